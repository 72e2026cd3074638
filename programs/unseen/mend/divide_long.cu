// 64-bit division and remainder by variables, signed and unsigned.
//
//! kernel divide_long
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void divide_long(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    long long a = (long long)in[i] * 0x1000193ll - 99999999999ll;
    long long b = in[(i + 1) % n] * 7919ll - 259000000ll;
    if (b == 0) b = 1;
    unsigned long long c = (unsigned long long)a, d = (unsigned long long)in[(i + 2) % n] << 33 | 5;
    long long r = a / b + a % b * 3 + (long long)(c / d * 5 + c % d);
    out[i] = (int)(r ^ r >> 32);
}
