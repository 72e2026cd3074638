// Union of openings of a 2048x1024 bit image by three shapes; one warp holds a row in 64-bit words.
//
//! kernel im_morph_bits
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

typedef unsigned long long u64;

__device__ u64 sideways(u64 r, bool grow) {
    const unsigned lane = threadIdx.x & 31;
    u64 before = __shfl_up_sync(~0u, r, 1), after = __shfl_down_sync(~0u, r, 1);
    if (lane == 0)
        before = grow ? 0 : ~0ull;
    if (lane == 31)
        after = grow ? 0 : ~0ull;
    const u64 a = r << 1 | before >> 63, b = r >> 1 | after << 63;
    return grow ? r | a | b : r & a & b;
}

__device__ u64 apply(u64 a, u64 b, u64 c, int shape, bool grow) {
    switch (shape) {
    case 0: // box
        a = sideways(a, grow), b = sideways(b, grow), c = sideways(c, grow);
        break;
    case 1: // cross
        b = sideways(b, grow);
        break;
    default: // vertical line
        break;
    }
    return grow ? a | b | c : a & b & c;
}

__device__ u64 fetch(const u64 *img, int y) {
    const u64 w = img[min(max(y, 0), 1023) * 32 + (threadIdx.x & 31)];
    return w | w >> 3 | w << 5;
}

extern "C" __global__ void im_morph_bits(const int *in, int *out, unsigned n) {
    const u64 *img = reinterpret_cast<const u64 *>(in);
    u64 *res = reinterpret_cast<u64 *>(out);
    const int y0 = (blockIdx.x * 4 + threadIdx.x / 32) * 4;
    u64 found[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int shape = 0; shape < 3; ++shape) {
        u64 a = fetch(img, y0 - 1), b = fetch(img, y0), c = fetch(img, y0 + 1);
        u64 e0 = apply(fetch(img, y0 - 2), a, b, shape, false);
        u64 e1 = apply(a, b, c, shape, false);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            a = b, b = c, c = fetch(img, y0 + k + 2);
            const u64 e2 = apply(a, b, c, shape, false);
            found[k] |= apply(e0, e1, e2, shape, true);
            e0 = e1, e1 = e2;
        }
    }
    for (int k = 0; k < 4; ++k)
        if ((y0 + k) * 64u + 63 < n)
            res[(y0 + k) * 32 + (threadIdx.x & 31)] = found[k];
}
