// collatz: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel collatz
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void collatz(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] + 1, steps = 0;
    while (a != 1) { if (a & 1) a = 3 * a + 1; else a >>= 1; steps++; }
    out[i] = steps;
}
