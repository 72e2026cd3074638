// Initialised device variables, read and written by distinct threads.
//
//! kernel device_globals
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ int offsets[8] = {5, 10, 15, 20, 25, 30, 35, 40};
__device__ int scratch[65536];

extern "C" __global__ void device_globals(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[i] = in[i] + offsets[i & 7];
    __syncthreads();
    out[i] = scratch[i ^ 1] * 2 - offsets[in[i] & 7];
}
