// Sum of n integers, completely unrolled: the block size is a template argument, so the compiler
// keeps only the steps of that block size, without a loop. After "reduceCompleteUnroll" of
// Professional CUDA C Programming, chapter 3.
//
// The last warp is as in reduce_unroll_last_warp.cu. A kernel with a plain name calls the inlined
// template, so the PTX has no mangled name. The block size is fixed at 512 in the source: do not
// change it in the directives below.
//
//! kernel reduceCompleteUnroll512
//! title  Reduction, completely unrolled (nvcc)
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

template <unsigned int blockSize>
static __device__ __forceinline__ void reduceCompleteUnroll(int *g_idata, int *g_odata, unsigned int n)
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

    if (blockSize >= 1024) {
        if (tid < 512)
            idata[tid] += idata[tid + 512];
        __syncthreads();
    }
    if (blockSize >= 512) {
        if (tid < 256)
            idata[tid] += idata[tid + 256];
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128)
            idata[tid] += idata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64)
            idata[tid] += idata[tid + 64];
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

extern "C" __global__ void reduceCompleteUnroll512(int *g_idata, int *g_odata, unsigned int n)
{
    reduceCompleteUnroll<512>(g_idata, g_odata, n);
}
