// Median 3x3 of an RGBA image by a 19-step sorting network on four packed bytes at a time.
//
//! kernel im_median3
//! const  n = 65536
//! grid   = 512
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ void order(unsigned &a, unsigned &b) {
    const unsigned lo = __vminu4(a, b);
    b = __vmaxu4(a, b);
    a = lo;
}

extern "C" __global__ void im_median3(const int *in, int *out, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned x = i & 255, y = i >> 8;
    if (i >= n)
        return;
    if (x == 0 || x == 255 || y == 0 || y == 255) {
        out[i] = in[i];
        return;
    }
    unsigned p[9];
#pragma unroll
    for (int k = 0; k < 9; ++k)
        p[k] = (unsigned)in[i + (k / 3 - 1) * 256 + k % 3 - 1];

    order(p[1], p[2]); order(p[4], p[5]); order(p[7], p[8]);
    order(p[0], p[1]); order(p[3], p[4]); order(p[6], p[7]);
    order(p[1], p[2]); order(p[4], p[5]); order(p[7], p[8]);
    order(p[0], p[3]); order(p[5], p[8]); order(p[4], p[7]);
    order(p[3], p[6]); order(p[1], p[4]); order(p[2], p[5]);
    order(p[4], p[7]); order(p[4], p[2]); order(p[6], p[4]);
    order(p[4], p[2]);
    out[i] = (int)p[4];
}
