// Histogram with warp aggregation: equal bins of a warp add once through match_any.
//
//! kernel histo_aggregated
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void histo_aggregated(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int bin = in[i] & 15;
    unsigned peers = __match_any_sync(0xffffffffu, bin);
    if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&out[bin], __popc(peers));
}
