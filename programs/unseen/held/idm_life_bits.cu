// Game of life on 32x32 tori, one board per warp and one row of bits per lane.
//
//! kernel idm_life_bits
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ unsigned maj(unsigned a, unsigned b, unsigned c) {
    return (a & b) | (c & (a | b));
}

extern "C" __global__ void idm_life_bits(const int *in, int *out, unsigned n) {
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if ((id | 31) >= n)
        return;
    unsigned x = (unsigned)in[id];
    x ^= x << 13;
    x ^= x >> 17;
    for (int gen = 0; gen < 24; gen++) {
        unsigned l = __funnelshift_l(x, x, 1), r = __funnelshift_r(x, x, 1);
        unsigned s0 = l ^ x ^ r, s1 = maj(l, x, r);
        unsigned u0 = __shfl_sync(~0u, s0, lane + 31), u1 = __shfl_sync(~0u, s1, lane + 31);
        unsigned d0 = __shfl_sync(~0u, s0, lane + 1), d1 = __shfl_sync(~0u, s1, lane + 1);
        unsigned c0 = l ^ r, c1 = l & r;
        unsigned odd = u0 ^ d0 ^ c0, carry = maj(u0, d0, c0);
        unsigned one = (u1 ^ d1 ^ c1 ^ carry) & ~((u1 & d1) | (c1 & carry));
        unsigned next = one & (odd | x);
        bool same = next == x;
        x = next;
        if (__all_sync(~0u, same))
            break;
    }
    out[id] = (int)x;
}
