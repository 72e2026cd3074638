// pi_darts: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel pi_darts
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void pi_darts(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = in[i] * 2654435761u + i; int hits = 0;
    for (int j = 0; j < 64; j++) {
        s = s * 1664525u + 1013904223u; float x = (float)(s >> 8) * (1.0f / 16777216.0f);
        s = s * 1664525u + 1013904223u; float y = (float)(s >> 8) * (1.0f / 16777216.0f);
        if (fmaf(x, x, y * y) <= 1.0f) hits++;
    }
    out[i] = hits;
}
