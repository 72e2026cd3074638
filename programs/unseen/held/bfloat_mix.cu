// bfloat16 arithmetic with conversions from and to float.
//
//! kernel bfloat_mix
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cuda_bf16.h>

extern "C" __global__ void bfloat_mix(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16((in[i] & 4095) * 0.37f);
    __nv_bfloat16 b = __float2bfloat16(1.0f + (i & 31));
    __nv_bfloat162 v = __halves2bfloat162(a, b);
    v = __hfma2(v, v, __float2bfloat162_rn(-0.5f));
    float r = __bfloat162float(__hadd(a, b)) + __low2float(v) - __high2float(v);
    out[i] = __float_as_int(r) ^ __bfloat16_as_ushort(__hmul(a, b));
}
