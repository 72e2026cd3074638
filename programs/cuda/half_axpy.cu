// y = a * x + y on pairs of 16-bit floats (`fma.rn.f16x2`), then arithmetic and a comparison on
// single ones. The values are small integers, which 16 bits represent exactly.
//
//! kernel halfAxpy
//! title  Pairs of 16-bit floats (nvcc)
//! const  n = 128
//! const  block = 64
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer out: s32[n] = fill(99)
//! buffer larger: u32[n] = fill(99)
//! arg    0 = out
//! arg    1 = larger
//! expect out[i] == 3 * (i % 32) + i % 7 + (-2 * (i % 16) + 5) for i in 0..n
//! expect larger[i] == (3 * (i % 32) + i % 7 > -2 * (i % 16) + 5) for i in 0..n

#include <cuda_fp16.h>

extern "C" __global__ void halfAxpy(int *out, unsigned int *larger)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = __halves2half2(__int2half_rn(i % 32), __int2half_rn(i % 16));
    __half2 y = __halves2half2(__int2half_rn(i % 7), __int2half_rn(5));
    __half2 a = __floats2half2_rn(3.0f, -2.0f);

    __half2 z = __hfma2(a, x, y);
    out[i] = __half2int_rn(__hadd(__low2half(z), __high2half(z)));
    larger[i] = __hgt(__low2half(z), __high2half(z));
}
