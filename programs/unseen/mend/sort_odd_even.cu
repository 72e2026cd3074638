// sort_odd_even: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel sort_odd_even
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_odd_even(const int *in, int *out, unsigned n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int p = 0; p < 128; p++) {
        if ((t & 1) == (p & 1) && t < 127 && s[t] > s[t + 1]) { int v = s[t]; s[t] = s[t + 1]; s[t + 1] = v; }
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = s[t];
}
