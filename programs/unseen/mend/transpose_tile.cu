// Transpose of a 256 by 256 matrix through an unpadded shared tile of 16 by 16.
//
//! kernel transpose_tile
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void transpose_tile(const int *in, int *out, unsigned n) {
    __shared__ int tile[16][16];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    int bx = blockIdx.x & 15, by = blockIdx.x >> 4;
    tile[ty][tx] = in[(by * 16 + ty) * 256 + bx * 16 + tx];
    __syncthreads();
    out[(bx * 16 + ty) * 256 + by * 16 + tx] = tile[tx][ty];
}
