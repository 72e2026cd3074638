// Sum of each block's elements by pairs of neighbours in shared memory, in CUDA C++ for nvcc.
//
//! title  Sum of a block by neighboured pairs (nvcc)
//! const  n = 1 << 14
//! const  block = 256
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = iota
//! buffer out: u32[ceil_div(n, block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect out[b] == block * block * b + block * (block - 1) / 2 for b in 0..n / block
//! expect sum(out) == n * (n - 1) / 2

#define BLOCK 256

extern "C" __global__ void sum(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned sums[BLOCK];

    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        if (t % (2 * stride) == 0)
            sums[t] += sums[t + stride];
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}
