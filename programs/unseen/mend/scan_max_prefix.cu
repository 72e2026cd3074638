// Prefix maximum of a block by Hillis and Steele with double buffering.
//
//! kernel scan_max_prefix
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void scan_max_prefix(const int *in, int *out, unsigned n) {
    __shared__ int s[2][256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, p = 0;
    s[0][t] = in[i];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        int v = s[p][t];
        if (t >= d) v = max(v, s[p][t - d]);
        p ^= 1;
        s[p][t] = v;
        __syncthreads();
    }
    out[i] = s[p][t];
}
