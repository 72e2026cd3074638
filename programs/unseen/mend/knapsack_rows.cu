// 0/1 knapsack of twelve items by rows of capacities in shared memory.
//
//! kernel knapsack_rows
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void knapsack_rows(const int *in, int *out, unsigned n) {
    __shared__ int best[2][256];
    int t = threadIdx.x, p = 0;
    best[0][t] = 0;
    __syncthreads();
    for (int k = 0; k < 12; k++) {
        int item = in[blockIdx.x * 12 + k], w = (item & 63) + 1, v = item >> 6 & 255;
        int b = best[p][t];
        if (t >= w) b = max(b, best[p][t - w] + v);
        best[p ^ 1][t] = b;
        p ^= 1;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = best[p][t];
}
