// Sum of n integers in one cooperative launch: each block sums its part into one word, a barrier of
// the whole grid follows, and block 0 sums these words. programs/several/sum_two_pass.ir ends the
// launch instead.
//
// All blocks must be resident at once: the barrier waits for each of them. A launch of more is an
// error. The block size must be a power of two, at most 1024.
//
//! kernel reduceGrid
//! title  Reduction in one launch, with a barrier of the grid (nvcc)
//! const  n = 1 << 14
//! const  block = 128
//! const  blocks = 4
//! grid   = blocks
//! block  = block
//! shared = 4 * block
//! cooperative
//! buffer in: u32[n] = random(7, 0..256)
//! buffer partial: u32[blocks] = fill(0)
//! buffer out: u32[1] = fill(0)
//! arg    0 = in
//! arg    1 = partial
//! arg    2 = out
//! arg    3 = n
//! expect sum(partial) == sum(in)
//! expect out[0] == sum(in)
#include <cooperative_groups.h>

static __device__ unsigned int blockSum(const unsigned int *data, unsigned int n,
                                        unsigned int first, unsigned int step)
{
    extern __shared__ unsigned int sums[];

    unsigned int sum = 0;
    for (unsigned int i = first; i < n; i += step)
        sum += data[i];
    sums[threadIdx.x] = sum;
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride)
            sums[threadIdx.x] += sums[threadIdx.x + stride];
    }
    return sums[0]; // of thread 0; the others may read it too early
}

extern "C" __global__ void reduceGrid(const unsigned int *g_idata, unsigned int *partial,
                                      unsigned int *g_odata, unsigned int n)
{
    unsigned int size = gridDim.x * blockDim.x;

    unsigned int sum = blockSum(g_idata, n, blockIdx.x * blockDim.x + threadIdx.x, size);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;

    cooperative_groups::this_grid().sync();

    if (blockIdx.x == 0) {
        sum = blockSum(partial, gridDim.x, threadIdx.x, blockDim.x);
        if (threadIdx.x == 0)
            g_odata[0] = sum;
    }
}
