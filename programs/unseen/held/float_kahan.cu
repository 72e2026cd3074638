// Compensated summation of 64 floats.
//
//! kernel float_kahan
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_kahan(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f, c = 0.0f;
    for (unsigned k = 0; k < 64; k++) {
        float y = (float)in[(i + k * 61) % n] * 0.01f - c, t = sum + y;
        c = (t - sum) - y;
        sum = t;
    }
    out[i] = __float_as_int(sum);
}
