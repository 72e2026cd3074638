// grid_stride_max: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel grid_stride_max
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void grid_stride_max(const int *in, int *out, unsigned n) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    int m = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) if (in[i] > m) m = in[i];
    atomicMax(&best, m);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&out[0], best);
}
