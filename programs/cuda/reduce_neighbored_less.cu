// Sum of n integers, second version: the pairs of reduce_neighbored.cu, with contiguous threads.
//
//   step 1   thread 0: 0+1   thread 1: 2+3   thread 2: 4+5  ..    threads 0 .. 255 active
//   step 2   thread 0: 0+2   thread 1: 4+6                  ..    threads 0 .. 127 active
//
// Idle warps leave the branch at once; only the last five steps, with 16, 8, 4, 2 and 1 active
// threads, diverge. Written by hand: ../reduce_neighbored_less.ir. After "reduceNeighboredLess" of
// Professional CUDA C Programming, chapter 3.
//
//! kernel reduceNeighboredLess
//! title  Reduction, neighbored pairs with less divergence (nvcc)
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

extern "C" __global__ void reduceNeighboredLess(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x; // this block's part of the data

    if (idx >= n)
        return;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        unsigned int index = 2 * stride * tid; // thread t takes the t-th pair
        if (index < blockDim.x)
            idata[index] += idata[index + stride];
        __syncthreads();
    }

    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}
