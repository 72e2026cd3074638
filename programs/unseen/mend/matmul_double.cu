// Naive double-precision product of two 64 by 64 matrices.
//
//! kernel matmul_double
//! const  n = 65536
//! grid   = 16
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void matmul_double(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i >> 6, col = i & 63;
    double sum = 0.0;
    for (int k = 0; k < 64; k++)
        sum += (double)in[row * 64 + k] * 0.125 * (double)in[4096 + k * 64 + col];
    long long bits = __double_as_longlong(sum);
    out[2 * i] = (int)bits;
    out[2 * i + 1] = (int)(bits >> 32);
}
