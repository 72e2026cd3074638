// Sixteen Montgomery multiplications modulo an odd 32-bit number.
//
//! kernel power_montgomery
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void power_montgomery(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, m = 998244353u, inv = 1;
    for (int k = 0; k < 5; k++) inv *= 2 - m * inv;
    unsigned x = in[i] * 12345u % m, y = in[(i + 1) % n];
    for (int k = 0; k < 16; k++) {
        unsigned long long p = (unsigned long long)x * y;
        unsigned q = (unsigned)p * inv;
        unsigned hi = (unsigned)(p >> 32), sub = __umulhi(q, m);
        x = hi >= sub ? hi - sub : hi + m - sub;
    }
    out[i] = x;
}
