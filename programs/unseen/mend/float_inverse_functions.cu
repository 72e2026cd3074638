// atanf, atan2f, asinf, acosf, tanhf, cbrtf, hypotf and erff.
//
//! kernel float_inverse_functions
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_inverse_functions(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (float)in[i] * 3.0e-5f - 0.98f, y = (float)in[(i + 1) % n] * 1e-3f;
    float r = atanf(y) + atan2f(x, y + 1.0f) + asinf(x) + acosf(x) + tanhf(y * 0.1f);
    out[i] = __float_as_int(r + cbrtf(y) + hypotf(x, y) + erff(x));
}
