// Connected components of a thresholded image in 32x32 tiles, by minimum labels until stable.
//
//! kernel im_ccl_tile
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ unsigned least(const unsigned short *lab, int p) {
    const unsigned a = min((unsigned)lab[p - 1], (unsigned)lab[p + 1]);
    const unsigned b = min((unsigned)lab[p - 34], (unsigned)lab[p + 34]);
    return min(a, b);
}

extern "C" __global__ void im_ccl_tile(const int *in, int *out, unsigned n) {
    __shared__ unsigned short lab[2][1156];
    __shared__ unsigned size[1156];
    const int t = threadIdx.x;
    const int bx = (blockIdx.x & 7) * 32, by = (blockIdx.x >> 3) * 32;
    for (int k = t; k < 1156; k += 256) {
        const int x = k % 34 - 1, y = k / 34 - 1;
        bool on = false;
        if (x >= 0 && x < 32 && y >= 0 && y < 32)
            on = ((unsigned)in[(by + y) * 256 + bx + x] >> 28) < 9;
        lab[0][k] = lab[1][k] = on ? k : 0xffff;
        size[k] = 0;
    }
    __syncthreads();

    const int first = (t / 32 + 1) * 34 + (t & 31) + 1;
    int cur = 0, moved;
    do {
        moved = 0;
        for (int r = 0; r < 4; ++r) {
            const int p = first + r * 8 * 34;
            const unsigned old = lab[cur][p];
            if (old == 0xffff)
                continue;
            unsigned m = min(old, least(lab[cur], p));
            m = min(m, (unsigned)lab[cur][m]);
            lab[cur ^ 1][p] = m;
            moved |= m != old;
        }
        cur ^= 1;
    } while (__syncthreads_or(moved));

    for (int r = 0; r < 4; ++r) {
        const unsigned m = lab[cur][first + r * 272];
        if (m != 0xffff)
            atomicAdd(&size[m], 1u);
    }
    __syncthreads();
    for (int r = 0; r < 4; ++r) {
        const unsigned m = lab[cur][first + r * 272];
        const unsigned at = (by + t / 32 + r * 8) * 256 + bx + (t & 31);
        if (at < n)
            out[at] = m == 0xffff ? -1 : (int)(m << 16 | size[m]);
    }
}
