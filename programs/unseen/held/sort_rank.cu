// sort_rank: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel sort_rank
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_rank(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    int t = threadIdx.x, b = blockIdx.x * 256, v = in[b + t], r = 0;
    s[t] = v;
    __syncthreads();
    for (int j = 0; j < 256; j++) r += s[j] < v || (s[j] == v && j < t);
    out[b + r] = v;
}
