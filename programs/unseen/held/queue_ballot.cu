// Compaction of a block in order, by ballots and a running count in shared memory.
//
//! kernel queue_ballot
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void queue_ballot(const int *in, int *out, unsigned n) {
    __shared__ int count[8];
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, base = blockIdx.x * 256;
    int v = in[base + t], keep = v % 3 == 0;
    unsigned b = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) count[warp] = __popc(b);
    __syncthreads();
    int at = __popc(b & ((1u << lane) - 1));
    for (unsigned w = 0; w < warp; w++) at += count[w];
    if (keep) out[base + at] = v;
}
