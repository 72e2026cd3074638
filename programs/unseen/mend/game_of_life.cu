// game_of_life: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel game_of_life
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void game_of_life(const int *in, int *out, unsigned n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i & 255, y = i >> 8, live = 0;
    for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
        if (dx == 0 && dy == 0) continue;
        live += in[((y + dy) & 255) * 256 + ((x + dx) & 255)] & 1;
    }
    out[i] = live == 3 || (live == 2 && (in[i] & 1));
}
