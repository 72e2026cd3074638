// Top 32 of 2048 keys per block by radix select, then a bitonic sort in one warp.
//
//! kernel db_topk_select
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void db_topk_select(const int *in, int *out, unsigned n) {
    __shared__ unsigned hist[257], buf[32], digit, above, cnt;
    unsigned t = threadIdx.x, base = blockIdx.x * 2048;
    if (base + 2048 > n)
        return;
    unsigned key[8], prefix = 0, mask = 0, k = 32;
#pragma unroll
    for (int r = 0; r < 8; r++)
        key[r] = (unsigned)in[base + r * 256 + t] ^ 0x80000000u;
    if (t == 0)
        cnt = hist[256] = 0;

    for (int shift = 24; shift >= 0; shift -= 8) {
        hist[t] = 0;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 8; r++)
            if ((key[r] & mask) == prefix)
                atomicAdd(&hist[(key[r] >> shift) & 255], 1u);
        __syncthreads();
        for (unsigned d = 1; d < 256; d *= 2) {
            unsigned y = t + d < 256 ? hist[t + d] : 0;
            __syncthreads();
            hist[t] += y;
            __syncthreads();
        }
        if (hist[t] >= k && hist[t + 1] < k) {
            digit = t;
            above = hist[t + 1];
        }
        __syncthreads();
        prefix |= digit << shift;
        mask |= 255u << shift;
        k -= above;
    }

#pragma unroll
    for (int r = 0; r < 8; r++)
        if (key[r] > prefix)
            buf[atomicAdd(&cnt, 1u)] = key[r];
    __syncthreads();
    if (t >= 32)
        return;
    unsigned x = t < cnt ? buf[t] : prefix;
    for (unsigned size = 2; size <= 32; size *= 2)
        for (unsigned d = size / 2; d > 0; d /= 2) {
            unsigned y = __shfl_xor_sync(~0u, x, d);
            bool up = ((t & size) != 0) == ((t & d) != 0);
            x = up ? max(x, y) : min(x, y);
        }
    out[blockIdx.x * 32 + t] = (int)(x ^ 0x80000000u);
}
