// A polynomial in half2, two values per thread.
//
//! kernel half2_polynomial
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cuda_fp16.h>

extern "C" __global__ void half2_polynomial(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = __floats2half2_rn((in[i] & 63) * 0.03125f, (in[i] >> 6 & 63) * 0.03125f);
    __half2 r = __float2half2_rn(0.5f);
    for (int k = 0; k < 8; k++) r = __hfma2(r, x, __float2half2_rn(0.25f - 0.0625f * k));
    r = __hmin2(r, __hadd2(x, __lowhigh2highlow(r)));
    out[i] = *(int *)&r;
}
