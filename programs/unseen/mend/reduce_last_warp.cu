// Harris's fifth reduction: the last warp is unrolled, with __syncwarp between its steps.
//
//! kernel reduce_last_warp
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void reduce_last_warp(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = in[i] + in[i + 256];
    __syncthreads();
    for (unsigned d = 128; d > 32; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32) {
        int v = s[t] + s[t + 32];
        for (int d = 16; d > 0; d >>= 1) {
            s[t] = v;
            __syncwarp();
            if (t < d) v += s[t + d];
            __syncwarp();
        }
        if (t == 0) out[blockIdx.x] = v;
    }
}
