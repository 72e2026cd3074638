// ntt_block: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel ntt_block
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void ntt_block(const int *in, int *out, unsigned n) {
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[__brev(t) >> 24] = in[blockIdx.x * 256 + t] % 7681;
    __syncthreads();
    unsigned root = 198;
    for (int len = 2; len <= 256; len <<= 1) {
        unsigned w = 1, g = root;
        for (int e = 256 / len; e > 1; e >>= 1) g = g * g % 7681;
        if (t < 128) {
            int half = len / 2, j = t & (half - 1), p = (t / half) * len + j;
            for (int q = 0; q < j; q++) w = w * g % 7681;
            unsigned u = s[p], v = s[p + half] * w % 7681;
            s[p] = (u + v) % 7681; s[p + half] = (u + 7681 - v) % 7681;
        }
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[t];
}
