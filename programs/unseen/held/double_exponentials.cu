// Double exp, log, sin and pow.
//
//! kernel double_exponentials
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void double_exponentials(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i] * 1e-4 - 3.0, y = in[(i + 1) % n] + 0.5;
    double r = exp(x) + log(y) + sin(x) + pow(y, x * 0.1);
    long long bits = __double_as_longlong(r);
    out[2 * i] = (int)bits;
    out[2 * i + 1] = (int)(bits >> 32);
}
