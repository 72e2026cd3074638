// Integer Haar wavelet denoising of 512-sample frames in place in shared memory (bank conflicts).
//
//! kernel sig_haar
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sig_haar(const int *in, int *out, unsigned n) {
    __shared__ int x[512];
    const int t = threadIdx.x;
    const unsigned at = blockIdx.x * 512 + t;
    if (at + 256 >= n)
        return;
    x[t] = in[at] >> 16;
    x[t + 256] = in[at + 256] >> 16;
    __syncthreads();

    for (int s = 1; s < 512; s *= 2) {
        if (t < 256 / s) {
            const int k = t * 2 * s;
            const int a = x[k], d = x[k + s] - a;
            x[k] = a + (d >> 1);
            x[k + s] = d;
        }
        __syncthreads();
    }

    const bool keep0 = t == 0 || abs(x[t]) > 12000;
    const bool keep1 = abs(x[t + 256]) > 12000;
    if (!keep0)
        x[t] = 0;
    if (!keep1)
        x[t + 256] = 0;
    const int kept = __syncthreads_count(keep0) + __syncthreads_count(keep1);

    for (int s = 256; s > 0; s /= 2) {
        if (t < 256 / s) {
            const int k = t * 2 * s;
            const int d = x[k + s], a = x[k] - (d >> 1);
            x[k] = a;
            x[k + s] = a + d;
        }
        __syncthreads();
    }
    out[at] = x[t] ^ kept << 20;
    out[at + 256] = x[t + 256];
}
