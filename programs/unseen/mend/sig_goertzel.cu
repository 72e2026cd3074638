// Goertzel power of 64 bins of 512-sample frames in double precision, and how many bins are loud.
//
//! kernel sig_goertzel
//! const  n = 65536
//! grid   = 128
//! block  = 64
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sig_goertzel(const int *in, int *out, unsigned n) {
    __shared__ float frame[512];
    const unsigned t = threadIdx.x, b = blockIdx.x;
    for (unsigned k = t; k < 512; k += 64)
        frame[k] = b * 512 + k < n ? (float)(in[b * 512 + k] >> 16) * (1.0f / 32768.0f) : 0.0f;
    __syncthreads();

    const double c = 2.0 * cospi((double)(3 * t + 5) * (1.0 / 256.0));
    double s1 = 0.0, s2 = 0.0, energy = 0.0;
#pragma unroll 4
    for (int k = 0; k < 512; ++k) {
        const double x = frame[k];
        const double s0 = fma(c, s1, x - s2);
        energy = fma(x, x, energy);
        s2 = s1;
        s1 = s0;
    }
    const double power = s1 * s1 + s2 * s2 - c * s1 * s2;
    const int loud = __syncthreads_count(power > energy);
    out[b * 64 + t] = __float_as_int((float)power);
    if (t == 0)
        out[128 * 64 + b] = loud;
}
