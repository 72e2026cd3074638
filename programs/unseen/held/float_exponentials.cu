// expf, logf, powf, exp2f, log2f, log10f and expm1f in full accuracy.
//
//! kernel float_exponentials
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_exponentials(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (float)in[i] * 3e-4f - 9.0f, y = (float)in[(i + 1) % n] + 0.25f;
    float r = expf(x) + logf(y) + exp2f(x) + log2f(y) + log10f(y) + expm1f(x * 0.1f) + log1pf(y);
    out[i] = __float_as_int(r + powf(y, x * 0.1f));
}
