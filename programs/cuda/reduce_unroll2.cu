// Sum of n integers, unrolled by two: each block handles two blocks' data. A thread first adds 2
// words one block size apart, independent loads in flight together, then the block continues as in
// reduce_interleaved.cu: half the grid. After "reduceUnrolling2" of Professional CUDA C, chapter 3.
//
//! kernel reduceUnrolling2
//! title  Reduction, two blocks' data a block (nvcc)
//! const  n = 1 << 24
//! const  block = 512
//! grid   = ceil_div(n, 2 * block)
//! block  = block
//! buffer in: u32[n] = random(7, 0..256)
//! buffer out: u32[ceil_div(n, 2 * block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out == block_sum(in, 2 * block)
//! expect sum(out) == sum(in)

extern "C" __global__ void reduceUnrolling2(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x * 2;

    if (idx + blockDim.x < n)
        g_idata[idx] += g_idata[idx + blockDim.x];
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }

    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}
