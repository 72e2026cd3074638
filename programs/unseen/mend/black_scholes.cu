// Option prices by the Black-Scholes formula with expf, logf and erfcf.
//
//! kernel black_scholes
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void black_scholes(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 20.0f + (in[i] & 127), k = 25.0f + (in[(i + 1) % n] & 63);
    float t = 0.25f + (i & 7) * 0.25f;
    float sig = 0.3f * sqrtf(t), d1 = (logf(s / k) + 0.065f * t) / sig, d2 = d1 - sig;
    float n1 = 0.5f * erfcf(-d1 * 0.70710678f), n2 = 0.5f * erfcf(-d2 * 0.70710678f);
    out[i] = __float_as_int(s * n1 - k * expf(-0.02f * t) * n2);
}
