// Harris's seventh reduction: each thread sums many elements with a grid-stride loop.
//
//! kernel reduce_grid_stride
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void reduce_grid_stride(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    unsigned t = threadIdx.x;
    int v = 0;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += in[i];
    s[t] = v;
    __syncthreads();
    for (unsigned d = 128; d >= 32; d >>= 1) {
        if (t < d) s[t] = v = v + s[t + d];
        __syncthreads();
    }
    if (t < 32) {
        for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
        if (t == 0) out[blockIdx.x] = v;
    }
}
