// Semi-join bitmap filter on int4 loads with order-preserving compaction by ballot.
//
//! kernel db_filter_compact
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void db_filter_compact(const int *in, int *out, unsigned n) {
    __shared__ unsigned bitmap[32], wcount[8];
    unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, base = blockIdx.x * 1024;
    if (t < 32)
        bitmap[t] = (unsigned)in[t] | (unsigned)in[n - 1 - t] >> 7;
    __syncthreads();

    int4 q = reinterpret_cast<const int4 *>(in)[base / 4 + t];
    int v[4] = {q.x, q.y, q.z, q.w};
    bool keep[4];
    unsigned below = 0, total = 0, lt = (1u << lane) - 1;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned h1 = (unsigned)v[j] >> 22;
        unsigned h2 = (unsigned)v[j] * 0x9e3779b1u >> 22;
        keep[j] = (bitmap[h1 >> 5] >> (h1 & 31)) & (bitmap[h2 & 31] >> (h2 >> 5)) & 1;
        unsigned vote = __ballot_sync(~0u, keep[j]);
        below += __popc(vote & lt);
        total += __popc(vote);
    }
    if (lane == 0)
        wcount[w] = total;
    __syncthreads();

    unsigned pos = base + below;
    for (unsigned k = 0; k < w; k++)
        pos += wcount[k];
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (keep[j])
            out[pos++] = v[j];
}
