// Stable 16-way radix partition of 1024 keys per block, ranked with warp-level match_any.
//
//! kernel db_radix_partition
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void db_radix_partition(const int *in, int *out, unsigned n) {
    __shared__ unsigned hist[128], wsum[4];
    unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, base = blockIdx.x * 1024;
    if (base + 1024 > n)
        return;
    if (t < 128)
        hist[t] = 0;
    __syncthreads();

    unsigned key[4], rank[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        key[r] = in[base + w * 128 + r * 32 + lane];
        unsigned d = (key[r] >> 20) & 15;
        unsigned peers = __match_any_sync(~0u, d);
        int leader = __ffs(peers) - 1;
        unsigned old = 0;
        if ((int)lane == leader)
            old = atomicAdd(&hist[d * 8 + w], __popc(peers));
        old = __shfl_sync(~0u, old, leader);
        rank[r] = old + __popc(peers & ((1u << lane) - 1));
        __syncwarp();
    }
    __syncthreads();

    unsigned x = 0, mine = 0;
    if (t < 128) {
        x = mine = hist[t];
        for (int d = 1; d < 32; d *= 2) {
            unsigned y = __shfl_up_sync(~0u, x, d);
            if (lane >= d)
                x += y;
        }
        if (lane == 31)
            wsum[w] = x;
    }
    __syncthreads();
    if (t < 128) {
        for (unsigned k = 0; k < w; k++)
            x += wsum[k];
        hist[t] = x - mine;
    }
    __syncthreads();

#pragma unroll
    for (int r = 0; r < 4; r++) {
        unsigned d = (key[r] >> 20) & 15;
        out[base + hist[d * 8 + w] + rank[r]] = (int)key[r];
    }
}
