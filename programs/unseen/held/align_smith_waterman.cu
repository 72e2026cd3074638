// Smith-Waterman on anti-diagonals: one block per pair, one thread per row.
//
//! kernel align_smith_waterman
//! const  n = 65536
//! grid   = 64
//! block  = 64
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void align_smith_waterman(const int *in, int *out, unsigned n) {
    __shared__ int h[3][65], best;
    int t = threadIdx.x, base = blockIdx.x * 128;
    int a = in[base + t] & 3;
    h[0][t] = h[1][t] = h[2][t] = 0;
    if (t == 0) h[0][64] = h[1][64] = h[2][64] = best = 0;
    __syncthreads();
    int top = 0;
    for (int d = 0; d < 127; d++) {
        int *now = h[d % 3], *one = h[(d + 2) % 3], *two = h[(d + 1) % 3];
        int x = d - t;
        if (x >= 0 && x < 64) {
            int left = one[t + 1], up = one[t], diag = x > 0 ? two[t] : 0;
            int s = diag + (a == (in[base + 64 + x] & 3) ? 3 : -2);
            s = max(max(s, 0), max(x > 0 ? left : 0, up) - 1);
            now[t + 1] = s;
            top = max(top, s);
        }
        __syncthreads();
    }
    atomicMax(&best, top);
    __syncthreads();
    if (t == 0) out[blockIdx.x] = best;
}
