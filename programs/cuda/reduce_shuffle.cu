// Sum of n integers by shuffles: five exchanges between the lanes of a warp sum 32 values in
// registers, then the first warp sums the warps' sums in the same way. One barrier per block, one
// word of shared memory per warp; all lanes take part in each exchange, so only the writes diverge.
// After "reduceShfl" of Professional CUDA C Programming, chapter 5.
//
// The block size should be a multiple of 32.
//
//! kernel reduceShfl
//! title  Reduction by shuffles (nvcc)
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

static __device__ __forceinline__ int warpSum(int value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

extern "C" __global__ void reduceShfl(const int *g_idata, int *g_odata, unsigned int n)
{
    __shared__ int sums[32]; // one for each warp of the largest block

    unsigned int lane = threadIdx.x % 32;
    unsigned int warp = threadIdx.x / 32;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    int value = warpSum(i < n ? g_idata[i] : 0);
    if (lane == 0)
        sums[warp] = value;
    __syncthreads();

    if (warp == 0) {
        value = warpSum(lane < blockDim.x / 32 ? sums[lane] : 0);
        if (lane == 0)
            g_odata[blockIdx.x] = value;
    }
}
