// Minimum and maximum of three halves.
//
//! kernel form_minimum_of_three
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void form_minimum_of_three(const int *in, int *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 a = __floats2half2_rn(in[i] % 300 - 150, in[i] % 77), b = __floats2half2_rn(in[i + 1] % 300 - 150, in[i + 1] % 79);
    __half2 c = __floats2half2_rn(in[i + 2] % 300 - 150, in[i + 2] % 83), r[2] = {__hmax2(__hmax2(a, b), c), __hmin2(__hmin2(a, b), c)};
    __nv_bfloat162 d = __floats2bfloat162_rn(in[i] % 300 - 150, in[i] % 77), e = __floats2bfloat162_rn(in[i + 1] % 300 - 150, in[i + 1] % 79);
    __nv_bfloat162 f = __floats2bfloat162_rn(in[i + 2] % 300 - 150, in[i + 2] % 83), s[2] = {__hmax2(__hmax2(d, e), f), __hmin2(__hmin2(d, e), f)};
    int *words = (int *)r, *more = (int *)s;
    out[i] = words[0] ^ words[1] * 3 ^ more[0] * 5 ^ more[1] * 7;
}
