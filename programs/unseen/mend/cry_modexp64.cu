// Modular exponentiation with 64-bit Montgomery products and data-dependent exponents.
//
//! kernel cry_modexp64
//! const  n = 65536
//! grid   = 128
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ unsigned long long montmul(unsigned long long a, unsigned long long b,
                                      unsigned long long m, unsigned long long inv) {
    unsigned long long lo = a * b, hi = __umul64hi(a, b);
    unsigned long long s = __umul64hi(lo * inv, m);
    return hi >= s ? hi - s : hi - s + m;
}

extern "C" __global__ void cry_modexp64(const int *in, int *out, unsigned n) {
    typedef unsigned long long u64;
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * id + 3 >= n)
        return;
    u64 w0 = (unsigned)in[4 * id], w1 = (unsigned)in[4 * id + 1];
    u64 w2 = (unsigned)in[4 * id + 2];
    unsigned e = (unsigned)in[4 * id + 3];
    e >>= e >> 28;

    u64 m = (w0 << 32 | w1) | 0x4000000000000001ull;
    u64 x = (w2 << 32 | w1) % m;
    u64 inv = m;
    for (int i = 0; i < 5; i++)
        inv *= 2 - m * inv;
    u64 res = (0 - m) % m;
    for (int i = 0; i < 64; i++)
        x = x >= m - x ? x - (m - x) : x + x;

    while (e != 0) {
        if (e & 1)
            res = montmul(res, x, m, inv);
        x = montmul(x, x, m, inv);
        e >>= 1;
    }
    res = montmul(res, 1, m, inv);
    out[id] = (int)(res ^ res >> 32);
}
