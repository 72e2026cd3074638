// Integer product of two 128 by 128 matrices with 16 by 16 tiles.
//
//! kernel matmul_int_tiled
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void matmul_int_tiled(const int *in, int *out, unsigned n) {
    __shared__ int a[16][16], b[16][17];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    int col = (blockIdx.x & 7) * 16 + tx, row = (blockIdx.x >> 3) * 16 + ty, sum = 0;
    for (int k = 0; k < 128; k += 16) {
        a[ty][tx] = in[row * 128 + k + tx] & 255;
        b[ty][tx] = in[16384 + (k + ty) * 128 + col] & 255;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    out[row * 128 + col] = sum;
}
