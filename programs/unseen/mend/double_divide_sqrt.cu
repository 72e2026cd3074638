// Double division, square root, reciprocal square root and fused multiply-add.
//
//! kernel double_divide_sqrt
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void double_divide_sqrt(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[i] + 0.5, b = in[(i + 1) % n] - 30000.25;
    double r = a / b + sqrt(a) + rsqrt(a) + 1.0 / b + fma(a, b, 0.125);
    long long bits = __double_as_longlong(r);
    out[2 * i] = (int)bits;
    out[2 * i + 1] = (int)(bits >> 32);
}
