// scan_warps: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel scan_warps
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void scan_warps(const int *in, int *out, unsigned n) {
    __shared__ int sums[8];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int v = in[i];
    for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(0xffffffffu, v, d); if (lane >= d) v += u; }
    if (lane == 31) sums[w] = v;
    __syncthreads();
    int add = 0;
    for (int j = 0; j < w; j++) add += sums[j];
    out[i] = v + add;
}
