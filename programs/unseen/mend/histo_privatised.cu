// Histogram of 256 bins, one private copy per block, merged with global atomics.
//
//! kernel histo_privatised
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void histo_privatised(const int *in, int *out, unsigned n) {
    __shared__ unsigned h[256];
    h[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&h[in[i] >> 8], 1u);
    __syncthreads();
    atomicAdd((unsigned *)&out[threadIdx.x], h[threadIdx.x]);
}
