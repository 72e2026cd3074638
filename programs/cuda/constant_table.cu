// A table in constant memory, initialized in the program, with a uniform and a per-lane index.
//
//! kernel constantTable
//! title  Table in constant memory (nvcc)
//! const  n = 64
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer out: u32[n] = fill(99)
//! arg    0 = out
//! arg    1 = 2
//! expect out[i] == (i % 8 == 0 ? 3 : i % 8 == 1 ? 1 : i % 8 == 2 ? 4 : i % 8 == 3 ? 1 :
//!     i % 8 == 4 ? 5 : i % 8 == 5 ? 9 : i % 8 == 6 ? 2 : 6) * 400 for i in 0..n

__constant__ unsigned int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ unsigned short weights[4] = {1, 10, 100, 1000};

extern "C" __global__ void constantTable(unsigned int *out, int uniform)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = digits[i % 8] * digits[uniform] * weights[uniform];
}
