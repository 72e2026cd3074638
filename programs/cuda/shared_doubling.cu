// Sum of n integers in shared memory, stride doubling: in step s every 2^s-th thread adds its
// neighbour's sum. Active threads are spread over all warps: each step splits every working warp.
// After the first kernel of Programming Massively Parallel Processors, 1st ed., chapter 6.
//
//! kernel sharedDoubling
//! title  Reduction in shared memory, stride doubling (nvcc)
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

#define BLOCK 512

extern "C" __global__ void sharedDoubling(const unsigned int *in, unsigned int *out, unsigned int n)
{
    __shared__ unsigned int partialSum[BLOCK];

    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + t;
    partialSum[t] = i < n ? in[i] : 0;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads(); // the sums of the step before are there
        if (t % (2 * stride) == 0)
            partialSum[t] += partialSum[t + stride];
    }

    if (t == 0)
        out[blockIdx.x] = partialSum[0];
}
