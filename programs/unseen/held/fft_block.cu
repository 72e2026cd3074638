// Radix-2 complex FFT of 256 points per block in float, with sincosf twiddles.
//
//! kernel fft_block
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void fft_block(const int *in, int *out, unsigned n) {
    __shared__ float re[256], im[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int k = t; k < 256; k += 128) {
        int r = __brev(k) >> 24;
        re[r] = (float)(in[base + k] & 255) - 127.5f;
        im[r] = 0.0f;
    }
    for (int len = 2; len <= 256; len *= 2) {
        __syncthreads();
        int half = len / 2, j = t % half, a = t / half * len + j, b = a + half;
        float s, c;
        sincosf(-6.2831853f * (float)j / (float)len, &s, &c);
        float xr = re[b] * c - im[b] * s, xi = re[b] * s + im[b] * c;
        re[b] = re[a] - xr;
        im[b] = im[a] - xi;
        re[a] += xr;
        im[a] += xi;
    }
    __syncthreads();
    for (int k = t; k < 256; k += 128) {
        out[(base + k) * 2] = __float_as_int(re[k]);
        out[(base + k) * 2 + 1] = __float_as_int(im[k]);
    }
}
