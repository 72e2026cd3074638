// big_block_max: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel big_block_max
//! const  n = 65536
//! grid   = 64
//! block  = 1024
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void big_block_max(const int *in, int *out, unsigned n) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 1024 + t];
    for (int d = 512; d > 0; d >>= 1) { __syncthreads(); if (t < d && s[t + d] > s[t]) s[t] = s[t + d]; }
    if (t == 0) out[blockIdx.x] = s[0];
}
