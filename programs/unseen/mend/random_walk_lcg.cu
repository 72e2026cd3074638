// A walk on a line that stops at either end; the lengths differ by thread.
//
//! kernel random_walk_lcg
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void random_walk_lcg(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = in[i] + 1;
    int x = 0, k = 0;
    while (x > -8 && x < 8 && k < 200) {
        s = s * 1664525u + 1013904223u;
        x += s >> 31 ? 1 : -1;
        k++;
    }
    out[i] = x > 0 ? k : -k;
}
