// Sum of n integers in shared memory, stride halving: adds the upper half of the sums to the lower
// half. Whole warps work or idle in the first steps; only the last five split a warp. After the
// revised reduction kernel of Programming Massively Parallel Processors, 1st ed., chapter 6.
//
//! kernel sharedHalving
//! title  Reduction in shared memory, stride halving (nvcc)
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

extern "C" __global__ void sharedHalving(const unsigned int *in, unsigned int *out, unsigned int n)
{
    __shared__ unsigned int partialSum[BLOCK];

    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + t;
    partialSum[t] = i < n ? in[i] : 0;

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads(); // the sums of the step before are there
        if (t < stride)
            partialSum[t] += partialSum[t + stride];
    }

    if (t == 0)
        out[blockIdx.x] = partialSum[0];
}
