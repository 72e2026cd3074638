// Elimination of a 16 by 16 float system with a dominant diagonal.
//
//! kernel gauss_elimination
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gauss_elimination(const int *in, int *out, unsigned n) {
    __shared__ float a[16][17];
    int x = threadIdx.x & 15, y = threadIdx.x >> 4;
    a[y][x] = (float)(in[blockIdx.x * 256 + threadIdx.x] & 127) + (x == y ? 4096.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        float f = a[y][k] / a[k][k], pivot = a[k][x];
        __syncthreads();
        if (y > k && x >= k) a[y][x] -= f * pivot;
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = __float_as_int(a[y][x]);
}
