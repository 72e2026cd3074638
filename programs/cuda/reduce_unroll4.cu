// Sum of n integers, unrolled by four: each block handles four blocks' data. A thread first adds 4
// words one block size apart, independent loads in flight together, then the block continues as in
// reduce_interleaved.cu, with a quarter of the grid. After "reduceUnrolling4" of Professional CUDA
// C Programming, chapter 3.
//
//! kernel reduceUnrolling4
//! title  Reduction, four blocks' data a block (nvcc)
//! const  n = 1 << 24
//! const  block = 512
//! grid   = ceil_div(n, 4 * block)
//! block  = block
//! buffer in: u32[n] = random(7, 0..256)
//! buffer out: u32[ceil_div(n, 4 * block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out == block_sum(in, 4 * block)
//! expect sum(out) == sum(in)

extern "C" __global__ void reduceUnrolling4(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x * 4;

    if (idx + 3 * blockDim.x < n) {
        int a0 = g_idata[idx];
        int a1 = g_idata[idx + blockDim.x];
        int a2 = g_idata[idx + 2 * blockDim.x];
        int a3 = g_idata[idx + 3 * blockDim.x];
        g_idata[idx] = a0 + a1 + a2 + a3;
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
