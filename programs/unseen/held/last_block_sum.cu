// last_block_sum: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel last_block_sum
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void last_block_sum(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    __shared__ bool last;
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t] & 1023;
    __syncthreads();
    for (unsigned d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) {
        out[1024 + blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&out[1], 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        s[t] = ((volatile int *)out)[1024 + t];
        __syncthreads();
        for (unsigned d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
        if (t == 0) out[0] = s[0];
    }
}
