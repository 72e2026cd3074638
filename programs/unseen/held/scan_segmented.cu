// Segmented inclusive scan: a segment starts where the element is a multiple of seven.
//
//! kernel scan_segmented
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void scan_segmented(const int *in, int *out, unsigned n) {
    __shared__ int val[256], flag[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    val[t] = in[i];
    flag[t] = t == 0 || in[i] % 7 == 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int v = val[t], f = flag[t];
        if (t >= d && !f) {
            v += val[t - d];
            f |= flag[t - d];
        }
        __syncthreads();
        val[t] = v;
        flag[t] = f;
        __syncthreads();
    }
    out[i] = val[t];
}
