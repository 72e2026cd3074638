// histo_warp_private: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel histo_warp_private
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void histo_warp_private(const int *in, int *out, unsigned n) {
    __shared__ int h[8][32];
    int t = threadIdx.x;
    h[t >> 5][t & 31] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[t >> 5][in[i] & 31], 1);
    __syncthreads();
    if (t < 32) { int s = 0; for (int w = 0; w < 8; w++) s += h[w][t]; atomicAdd(&out[t], s); }
}
