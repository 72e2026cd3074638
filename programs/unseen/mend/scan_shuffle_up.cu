// Inclusive block scan from warp scans with shfl_up and a scan of the warp totals.
//
//! kernel scan_shuffle_up
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void scan_shuffle_up(const int *in, int *out, unsigned n) {
    __shared__ int total[8];
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * blockDim.x + t;
    int v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int u = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += u;
    }
    if (lane == 31) total[warp] = v;
    __syncthreads();
    if (warp == 0 && lane < 8) {
        int w = total[lane];
        for (int d = 1; d < 8; d *= 2) {
            int u = __shfl_up_sync(0xffu, w, d);
            if (lane >= d) w += u;
        }
        total[lane] = w;
    }
    __syncthreads();
    out[i] = warp ? v + total[warp - 1] : v;
}
