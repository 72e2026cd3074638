// Sum of each block's elements by pairs of neighbours in shared memory, in CUDA C++ for clang.
//
// No CUDA toolkit is needed: the file defines the words of CUDA that it uses. With a toolkit, leave
// them and the options -nocudainc and -nocudalib out.
//
//! title  Sum of a block by neighboured pairs (clang)
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

#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define BLOCK 256

extern "C" __global__ void sum(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned sums[BLOCK];

    unsigned t = __nvvm_read_ptx_sreg_tid_x();
    unsigned threads = __nvvm_read_ptx_sreg_ntid_x();
    unsigned i = __nvvm_read_ptx_sreg_ctaid_x() * threads + t;
    sums[t] = i < n ? in[i] : 0;

    for (unsigned stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t % (2 * stride) == 0)
            sums[t] += sums[t + stride];
    }
    if (t == 0)
        out[__nvvm_read_ptx_sreg_ctaid_x()] = sums[0];
}
