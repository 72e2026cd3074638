// Squared Euclidean distance to the nearest seed in 64x32 tiles: column sweeps, then row searches.
//
//! kernel im_distance
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void im_distance(const int *in, int *out, unsigned n) {
    __shared__ int up[32][64], down[32][64];
    const int t = threadIdx.x;
    const int bx = (blockIdx.x & 3) * 64, by = (blockIdx.x >> 2) * 32;

    if (t < 128) {
        const int x = t & 63;
        int d = 99;
        if (t < 64) {
            for (int y = 0; y < 32; ++y) {
                const bool seed = (unsigned)in[(by + y) * 256 + bx + x] >> 25 == 0;
                d = seed ? 0 : min(d + 1, 99);
                down[y][x] = d;
            }
        } else {
            for (int y = 31; y >= 0; --y) {
                const bool seed = (unsigned)in[(by + y) * 256 + bx + x] >> 25 == 0;
                d = seed ? 0 : min(d + 1, 99);
                up[y][x] = d;
            }
        }
    }
    __syncthreads();

    for (int k = t; k < 2048; k += 256) {
        const int x = k & 63, y = k >> 6;
        int g = min(up[y][x], down[y][x]);
        int best = g * g;
        for (int dx = 1; dx < 64 && dx * dx < best; ++dx) {
            if (x >= dx) {
                g = min(up[y][x - dx], down[y][x - dx]);
                best = min(best, g * g + dx * dx);
            }
            if (x + dx < 64) {
                g = min(up[y][x + dx], down[y][x + dx]);
                best = min(best, g * g + dx * dx);
            }
        }
        const unsigned at = (by + y) * 256 + bx + x;
        if (at < n)
            out[at] = best;
    }
}
