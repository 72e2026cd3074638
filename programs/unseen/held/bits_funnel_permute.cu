// Funnel shifts and byte permutations with variable selectors.
//
//! kernel bits_funnel_permute
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bits_funnel_permute(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] * 40503u, b = in[(i + 1) % n] * 2246822519u, s = in[(i + 2) % n];
    unsigned r = __funnelshift_l(a, b, s) ^ __funnelshift_r(a, b, s >> 5);
    r += __funnelshift_lc(a, b, s & 63) ^ __funnelshift_rc(a, b, s >> 6 & 63);
    r ^= __byte_perm(a, b, s & 0x7777) + __byte_perm(b, r, 0x0123);
    out[i] = r;
}
