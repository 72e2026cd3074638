// Sum of n integers, third version: folds the upper half of the block's data onto the lower half.
//
//   step 1   thread t: t + (t + 256)     threads 0 .. 255 active
//   step 2   thread t: t + (t + 128)     threads 0 .. 127 active
//
// The same warps work as in reduce_neighbored_less.cu, so divergence is the same; but neighbouring
// lanes now access adjacent words. Written by hand: ../reduce_interleaved.ir. After
// "reduceInterleaved" of Professional CUDA C Programming, chapter 3.
//
//! kernel reduceInterleaved
//! title  Reduction, interleaved pairs (nvcc)
//! const  n = 1 << 24
//! const  block = 512
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = random(7, 0..256)
//! buffer out: u32[ceil_div(n, block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out == block_sum(in, block)
//! expect sum(out) == sum(in)

extern "C" __global__ void reduceInterleaved(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x; // this block's part of the data

    if (idx >= n)
        return;

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }

    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}
