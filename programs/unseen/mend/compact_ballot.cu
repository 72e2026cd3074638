// compact_ballot: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel compact_ballot
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void compact_ballot(const int *in, int *out, unsigned n) {
    __shared__ int base[8];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int v = in[i];
    bool keep = v % 3 == 0;
    unsigned m = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) base[w] = __popc(m);
    __syncthreads();
    int at = __popc(m & ((1u << lane) - 1));
    for (int j = 0; j < w; j++) at += base[j];
    if (keep) out[blockIdx.x * blockDim.x + at] = v;
}
