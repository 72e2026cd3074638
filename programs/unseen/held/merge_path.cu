// merge_path: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel merge_path
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void merge_path(const int *in, int *out, unsigned n) {
    __shared__ int a[128], b[128];
    int t = threadIdx.x;
    if (t < 128) a[t] = t * 5 + (in[blockIdx.x] & 3); else b[t - 128] = (t - 128) * 4 + (in[blockIdx.x + 1] & 3);
    __syncthreads();
    int lo = t > 128 ? t - 128 : 0, hi = t < 128 ? t : 128;
    while (lo < hi) { int m = (lo + hi) >> 1; if (a[m] <= b[t - 1 - m]) lo = m + 1; else hi = m; }
    int x = lo, y = t - lo;
    out[blockIdx.x * 256 + t] = y >= 128 || (x < 128 && a[x] <= b[y]) ? a[x] : b[y];
}
