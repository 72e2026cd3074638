// scan_blelloch: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel scan_blelloch
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void scan_blelloch(const int *in, int *out, unsigned n) {
    __shared__ int s[512];
    int t = threadIdx.x, off = 1;
    unsigned b = (blockIdx.x & 127) * 512;
    s[2 * t] = in[b + 2 * t]; s[2 * t + 1] = in[b + 2 * t + 1];
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) { int x = off * (2 * t + 1) - 1, y = off * (2 * t + 2) - 1; s[y] += s[x]; }
        off *= 2;
    }
    if (t == 0) s[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        off >>= 1;
        __syncthreads();
        if (t < d) { int x = off * (2 * t + 1) - 1, y = off * (2 * t + 2) - 1; int v = s[x]; s[x] = s[y]; s[y] += v; }
    }
    __syncthreads();
    out[b + 2 * t] = s[2 * t]; out[b + 2 * t + 1] = s[2 * t + 1];
}
