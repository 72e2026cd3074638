// matvec_warp: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel matvec_warp
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void matvec_warp(const int *in, int *out, unsigned n) {
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    float sum = 0;
    for (int j = lane; j < 256; j += 32) sum += (float)in[w * 256 + j] * (float)(j & 7);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[w] = __float_as_int(sum);
}
