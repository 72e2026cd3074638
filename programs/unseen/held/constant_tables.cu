// Constant arrays read uniformly and with an index of the lane.
//
//! kernel constant_tables
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ int weight[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__constant__ float scale[4] = {0.5f, 1.25f, -2.0f, 8.0f};

extern "C" __global__ void constant_tables(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = 0;
    for (int k = 0; k < 16; k++) r += weight[k] * (v >> k & 1);
    r += weight[v & 15] * 7 + weight[threadIdx.x & 7];
    out[i] = r + (int)(scale[v >> 4 & 3] * r);
}
