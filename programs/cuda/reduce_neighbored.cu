// Sum of n integers, first version: adds neighbours in pairs, then pairs of pairs, and so on.
//
//   step 1   0+1   2+3   4+5   6+7  ..     threads 0, 2, 4, 6, .. active
//   step 2   0+2         4+6        ..     threads 0, 4, 8, ..    active
//
// The active threads are spread over all warps, so nearly every warp diverges in nearly every step.
// By hand: ../reduce_neighbored.ir. After "reduceNeighbored" of Professional CUDA C, chapter 3.
//
//! kernel reduceNeighbored
//! title  Reduction, neighbored pairs (nvcc)
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
//! expect sum(out) == recursive_sum(in)

extern "C" __global__ void reduceNeighbored(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x; // this block's part of the data

    if (idx >= n)
        return;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) // every second, fourth, eighth .. thread
            idata[tid] += idata[tid + stride];
        __syncthreads(); // no thread may read a sum that is not there yet
    }

    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}
