// Symmetric 32-tap FIR filter with two outputs per thread in half2, summed in float every 8 taps.
//
//! kernel sig_fir_half
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cuda_fp16.h>

__constant__ float taps[16] = {
    0.000966f, -0.001154f, -0.002631f, -0.000000f, 0.005876f, 0.005290f, -0.007493f, -0.016761f,
    0.000000f, 0.030538f, 0.025276f, -0.034179f, -0.076942f, 0.000000f, 0.197681f, 0.373535f,
};

__device__ __half2 tap(int k) { return __float2half2_rn(taps[k < 16 ? k : 31 - k]); }

extern "C" __global__ void sig_fir_half(const int *in, int *out, unsigned n) {
    __shared__ __half2 x[272];
    const unsigned t = threadIdx.x, base = blockIdx.x * 512;
    for (unsigned k = t; k < 272; k += 256) {
        int2 v = make_int2(0, 0);
        if (base + 2 * k >= 32 && base + 2 * k - 31 < n)
            v = *reinterpret_cast<const int2 *>(in + base + 2 * k - 32);
        x[k] = __floats2half2_rn((float)(v.x >> 16) * (1.0f / 32768.0f),
                                 (float)(v.y >> 16) * (1.0f / 32768.0f));
    }
    __syncthreads();

    float2 sum = make_float2(0.0f, 0.0f);
    __half2 cur = x[16 + t], acc = __float2half2_rn(0.0f);
#pragma unroll
    for (int m = 0; m < 16; ++m) {
        const __half2 prev = x[15 + t - m];
        const __half2 odd = __halves2half2(__high2half(prev), __low2half(cur));
        acc = __hfma2(tap(2 * m), cur, acc);
        acc = __hfma2(tap(2 * m + 1), odd, acc);
        cur = prev;
        if (m % 4 == 3) {
            const float2 part = __half22float2(acc);
            sum = make_float2(sum.x + part.x, sum.y + part.y);
            acc = __float2half2_rn(0.0f);
        }
    }
    if (base + 2 * t + 1 < n)
        *reinterpret_cast<int2 *>(out + base + 2 * t) =
            make_int2(__float_as_int(sum.x), __float_as_int(sum.y));
}
