// Nearest of eight centres for points in four dimensions, with centres in shared memory.
//
//! kernel kmeans_assign
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void kmeans_assign(const int *in, int *out, unsigned n) {
    __shared__ int centre[8][4];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 32) centre[t >> 2][t & 3] = in[t] & 255;
    __syncthreads();
    int best = 0x7fffffff, who = 0;
    for (int c = 0; c < 8; c++) {
        int d = 0;
        for (int k = 0; k < 4; k++) {
            int e = (in[i * 4 + k] & 255) - centre[c][k];
            d += e * e;
        }
        if (d < best) { best = d; who = c; }
    }
    out[i] = who << 20 | best;
}
