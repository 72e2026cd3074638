// Rank sort: every thread counts the smaller elements of its block.
//
//! kernel sort_rank_shared
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_rank_shared(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    int v = in[base + t];
    s[t] = v;
    __syncthreads();
    int rank = 0;
    for (int k = 0; k < 256; k++) rank += s[k] < v || (s[k] == v && k < t);
    out[base + rank] = v;
}
