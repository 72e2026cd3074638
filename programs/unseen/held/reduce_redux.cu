// Block minimum, maximum and sum with the warp-wide redux instructions.
//
//! kernel reduce_redux
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void reduce_redux(const int *in, int *out, unsigned n) {
    __shared__ int lo[8], hi[8], sum[8];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int v = in[i];
    int a = __reduce_min_sync(0xffffffffu, v);
    int b = __reduce_max_sync(0xffffffffu, v);
    int c = __reduce_add_sync(0xffffffffu, v);
    if ((t & 31) == 0) { lo[t >> 5] = a; hi[t >> 5] = b; sum[t >> 5] = c; }
    __syncthreads();
    if (t < 8) {
        out[blockIdx.x * 4] = __reduce_min_sync(0xffu, lo[t]);
        out[blockIdx.x * 4 + 1] = __reduce_max_sync(0xffu, hi[t]);
        out[blockIdx.x * 4 + 2] = __reduce_add_sync(0xffu, sum[t]);
    }
}
