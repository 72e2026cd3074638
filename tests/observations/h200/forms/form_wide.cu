// Addresses by shifts of signed values, wide comparisons, 64-bit selections and logic.
//
//! kernel form_wide
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_wide(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int v = in[i] - 30000; long long a = (long long)v * 123456789012ll, b = (long long)in[i + 1] * -98765432101ll, s = 0;
    const int *p = in + 40000;
    s += p[v >> 2];
    s += (a <= b) + 2 * (a == b) + 4 * ((unsigned long long)a < (unsigned long long)b) + 8 * (a != b - 1);
    s += a > b ? a : b; s ^= a & ~b; s += a >> (in[i + 2] & 63); s ^= (unsigned long long)b << (in[i + 3] & 63);
    s += __mul64hi(a, b) + __umul64hi(a, b) + __brevll(a) + __popcll(b) + __clzll(a) + __ffsll(b);
    s += llabs(a) + min(a, b) + (v <= (int)(s & 1023) ? 3 : 4);
    out[2 * i] = (int)s; out[2 * i + 1] = (int)(s >> 32);
}
