// Recursion to a lane-dependent depth. Ackermann's function for small arguments: the inner call's
// result is an argument of the outer one, so compilers do not turn it into a loop.
//
//! kernel callRecursive
//! title  Recursion, a depth for each lane (nvcc)
//! const  n = 64
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer out: u32[n] = fill(99)
//! arg    0 = out
//! expect out[i] == (i % 4 == 0 ? i / 4 % 3 + 1 :
//!     i % 4 == 1 ? i / 4 % 3 + 2 :
//!     i % 4 == 2 ? 2 * (i / 4 % 3) + 3 : (8 << i / 4 % 3) - 3) for i in 0..n

__device__ __noinline__ unsigned int ackermann(unsigned int m, unsigned int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void callRecursive(unsigned int *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ackermann(i % 4, i / 4 % 3);
}
