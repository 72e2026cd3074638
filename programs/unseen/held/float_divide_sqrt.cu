// IEEE division, reciprocal, square root and reciprocal square root in float.
//
//! kernel float_divide_sqrt
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_divide_sqrt(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = (float)in[i] + 0.5f, b = (float)in[(i + 1) % n] - 30000.25f;
    float r = a / b + sqrtf(a) + rsqrtf(a) + 1.0f / b + __frcp_rn(a) + __fsqrt_rz(a);
    r += __fdiv_ru(b, a) - fmodf(a, 37.5f) + __fdividef(a, b);
    out[i] = __float_as_int(r);
}
