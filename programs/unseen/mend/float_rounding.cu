// floor, ceil, round, trunc, rint and the directed rounding modes.
//
//! kernel float_rounding
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_rounding(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = ((float)in[i] - 32768.0f) * 0.37f;
    int r = (int)floorf(x) + 3 * (int)ceilf(x) + 5 * (int)truncf(x);
    r += 7 * (int)rintf(x) + 11 * (int)roundf(x);
    r += __float2int_rd(x) ^ __float2int_ru(x * 1.5f) ^ (int)__float2uint_rz(fabsf(x));
    float y = __fadd_rd(x, 1e-3f) + __fmul_ru(x, 1.1f) + __fmaf_rz(x, x, 0.1f) + copysignf(2.0f, x);
    out[i] = r ^ __float_as_int(y);
}
