// Sum of n integers in one kernel: reduce_shuffle.cu, but each block adds its sum to one word with
// an atomic instead of leaving it to the host. The atomics of all blocks are serialized at that
// word; with one per block, they cost little.
//
// The block size should be a multiple of 32, and the result word must start as zero.
//
//! kernel reduceAtomic
//! title  Reduction in one kernel, with an atomic for each block (nvcc)
//! const  n = 1 << 24
//! const  block = 512
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = random(7, 0..256)
//! buffer out: u32[1] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out[0] == sum(in)

static __device__ __forceinline__ int warpSum(int value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

extern "C" __global__ void reduceAtomic(const int *g_idata, int *g_odata, unsigned int n)
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
            atomicAdd(g_odata, value);
    }
}
