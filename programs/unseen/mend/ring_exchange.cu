// ring_exchange: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel ring_exchange
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void ring_exchange(const int *in, int *out, unsigned n) {
    __shared__ int s[2][256];
    int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
    for (int r = 0; r < 12; r++) {
        s[r & 1][t] = v;
        __syncthreads();
        int u = s[r & 1][(t + 1 + r) & 255];
        v = u > v ? u - v : v + (u >> 1);
    }
    out[blockIdx.x * blockDim.x + t] = v;
}
