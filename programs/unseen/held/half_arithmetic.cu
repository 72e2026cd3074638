// Half-precision arithmetic, comparisons and square root.
//
//! kernel half_arithmetic
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cuda_fp16.h>

extern "C" __global__ void half_arithmetic(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half a = __int2half_rn(in[i] & 255), b = __float2half((in[(i + 1) % n] & 127) * 0.25f + 0.5f);
    __half r = __hadd(__hmul(a, b), __hdiv(a, b));
    r = __hfma(r, __float2half(0.125f), hsqrt(b));
    if (__hgt(a, b)) r = __hsub(r, b);
    r = __hadd(r, __hmax(a, __hneg(b)));
    out[i] = __half_as_ushort(r) | __half2int_rz(r) << 16;
}
