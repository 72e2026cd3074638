// Functions selected at run time by a pointer from a table in device memory: an indirect call whose
// distinct targets run one after the other.
//
//! kernel callPointer
//! title  Calls through a table of function pointers (nvcc)
//! const  n = 128
//! const  block = 64
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = iota(100, 3)
//! buffer out: u32[n] = fill(99)
//! arg    0 = in
//! arg    1 = out
//! expect out[i] == (i % 4 == 0 ? in[i] + i : i % 4 == 1 ? in[i] - i : i % 4 == 2 ? in[i] * i : in[i] ^ i) for i in 0..n

typedef unsigned int (*Operation)(unsigned int, unsigned int);

__device__ __noinline__ unsigned int plus(unsigned int a, unsigned int b) { return a + b; }
__device__ __noinline__ unsigned int minus(unsigned int a, unsigned int b) { return a - b; }
__device__ __noinline__ unsigned int times(unsigned int a, unsigned int b) { return a * b; }
__device__ __noinline__ unsigned int differ(unsigned int a, unsigned int b) { return a ^ b; }

__device__ Operation operations[4] = {plus, minus, times, differ};

extern "C" __global__ void callPointer(const unsigned int *in, unsigned int *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = operations[i % 4](in[i], i);
}
