// Sum of n integers, unrolled by eight; the last six steps, of one warp, have no branches or
// barriers. All 32 lanes add in each; the upper lanes' sums are unused. No step diverges as in
// reduce_interleaved.cu. After "reduceUnrollWarps8" of Professional CUDA C, chapter 3.
//
// `volatile` keeps the partial sums in memory; each addition sees the previous one only if the
// lanes of the warp run in lockstep. Hardware before Volta guarantees that, later hardware does
// not: here nothing splits the warp between the lines, so it works, but robust code writes
// __syncwarp() between them, or uses shuffles (reduce_shuffle.cu).
//
//! kernel reduceUnrollWarps8
//! title  Reduction, last warp unrolled (nvcc)
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

extern "C" __global__ void reduceUnrollWarps8(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x * 8;

    if (idx + 7 * blockDim.x < n) {
        int sum = 0;
        for (int j = 0; j < 8; j++)
            sum += g_idata[idx + j * blockDim.x];
        g_idata[idx] = sum;
    }
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 32; stride >>= 1) {
        if (tid < stride)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }

    if (tid < 32) {
        volatile int *vmem = idata;
        vmem[tid] += vmem[tid + 32];
        vmem[tid] += vmem[tid + 16];
        vmem[tid] += vmem[tid + 8];
        vmem[tid] += vmem[tid + 4];
        vmem[tid] += vmem[tid + 2];
        vmem[tid] += vmem[tid + 1];
    }

    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}
