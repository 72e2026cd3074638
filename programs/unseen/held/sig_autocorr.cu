// Autocorrelation of 512-sample frames, one lag per thread in 64 bits, and the best pitch lag.
//
//! kernel sig_autocorr
//! const  n = 65536
//! grid   = 128
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sig_autocorr(const int *in, int *out, unsigned n) {
    __shared__ short x[512];
    __shared__ long long best[4], zero_lag;
    const int lag = threadIdx.x;
    const unsigned base = blockIdx.x * 512;
    for (int k = lag; k < 512; k += 128)
        x[k] = base + k < n ? (short)(in[base + k] >> 16) : 0;
    __syncthreads();

    long long acc = 0;
    for (int j = 0; j + lag < 512; ++j)
        acc += (int)x[j] * (int)x[j + lag];

    long long key = -0x7fffffffffffffffll;
    if (lag >= 16)
        key = (acc & ~127ll) | (127 - lag);
    for (int d = 16; d > 0; d >>= 1) {
        const long long other = __shfl_xor_sync(~0u, key, d);
        key = other > key ? other : key;
    }
    if ((lag & 31) == 0)
        best[lag >> 5] = key;
    if (lag == 0)
        zero_lag = acc;
    __syncthreads();

    key = best[0];
    for (int w = 1; w < 4; ++w)
        key = best[w] > key ? best[w] : key;
    const float ratio = (float)acc / ((float)zero_lag + 1.0f);
    out[base + lag] = (int)(acc >> 12);
    out[base + 128 + lag] = __float_as_int(ratio);
    if (lag == 127 - (int)(key & 127))
        out[base + 256] = lag << 16 | (int)(ratio * 1000.0f);
}
