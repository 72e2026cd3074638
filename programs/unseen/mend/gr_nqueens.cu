// Twelve queens with blocked squares: each lane backtracks below its own four-row prefix.
//
//! kernel gr_nqueens
//! const  n = 65536
//! grid   = 81
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gr_nqueens(const int *in, int *out, unsigned n) {
    const unsigned ALL = 0xfff;
    __shared__ unsigned bad[12];
    unsigned t = threadIdx.x, id = blockIdx.x * blockDim.x + t;
    if (t < 12) {
        unsigned a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];
        bad[t] = a >> 20 & b >> 18 & c >> 16 & ALL;
    }
    __syncthreads();
    if (id >= n)
        return;

    unsigned rest = id, cols = 0, d1 = 0, d2 = 0;
    for (int r = 0; r < 4; r++) {
        unsigned bit = 1u << rest % 12;
        rest /= 12;
        if ((cols | d1 | d2 | bad[r]) & bit)
            return;
        cols |= bit;
        d1 = (d1 | bit) << 1;
        d2 = (d2 | bit) >> 1;
    }

    unsigned free[8], sc[8], s1[8], s2[8];
    int lv = 0, count = 0;
    sc[0] = cols, s1[0] = d1, s2[0] = d2;
    free[0] = ALL & ~(cols | d1 | d2 | bad[4]);
    while (lv >= 0) {
        unsigned f = free[lv];
        if (f == 0) {
            lv--;
            continue;
        }
        unsigned bit = f & (0u - f);
        free[lv] = f ^ bit;
        if (lv == 7) {
            count++;
            continue;
        }
        cols = sc[lv] | bit;
        d1 = (s1[lv] | bit) << 1;
        d2 = (s2[lv] | bit) >> 1;
        lv++;
        sc[lv] = cols, s1[lv] = d1, s2[lv] = d2;
        free[lv] = ALL & ~(cols | d1 | d2 | bad[4 + lv]);
    }
    out[id] = count;
}
