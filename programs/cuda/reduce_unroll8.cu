// Sum of n integers, unrolled by eight: each block handles eight blocks' data. A thread first adds
// 8 words one block size apart, independent loads in flight together, then the block continues as
// in reduce_interleaved.cu, with an eighth of the grid. After "reduceUnrolling8" of Professional
// CUDA C Programming, chapter 3.
//
//! kernel reduceUnrolling8
//! title  Reduction, eight blocks' data a block (nvcc)
//! const  n = 1 << 24
//! const  block = 512
//! grid   = ceil_div(n, 8 * block)
//! block  = block
//! buffer in: u32[n] = random(7, 0..256)
//! buffer out: u32[ceil_div(n, 8 * block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out == block_sum(in, 8 * block)
//! expect sum(out) == sum(in)

extern "C" __global__ void reduceUnrolling8(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x * 8;

    if (idx + 7 * blockDim.x < n) {
        int a0 = g_idata[idx];
        int a1 = g_idata[idx + blockDim.x];
        int a2 = g_idata[idx + 2 * blockDim.x];
        int a3 = g_idata[idx + 3 * blockDim.x];
        int a4 = g_idata[idx + 4 * blockDim.x];
        int a5 = g_idata[idx + 5 * blockDim.x];
        int a6 = g_idata[idx + 6 * blockDim.x];
        int a7 = g_idata[idx + 7 * blockDim.x];
        g_idata[idx] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
    }
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }

    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}
