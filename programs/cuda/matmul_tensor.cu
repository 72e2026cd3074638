// c = a * b with factors of 16-bit floats on tensor cores: a warp multiplies 16 x 16 tiles by one
// instruction or two, and adds them up in 32-bit floats.
//
//! kernel matmul
//! title  Matrix product on tensor cores (nvcc)
//! const  n = 64
//! grid   = (n / 64, n / 16)
//! block  = 128
//! buffer a: f16[n * n] = random(7, 0..16)
//! buffer b: f16[n * n] = (i / n == (5 * (i % n) + 3) % n) + 2 * (i / n == 7 * (i % n) % n) for i
//! buffer c: f32[n * n]
//! arg    0 = a
//! arg    1 = b
//! arg    2 = c
//! arg    3 = n
//! expect c == (a[i / n * n + (5 * (i % n) + 3) % n] + 2 * a[i / n * n + 7 * (i % n) % n]) for i

#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 16;

// n is a multiple of 64; each of a block's four warps computes one tile of c.
__global__ void matmul(const half* a, const half* b, float* c, int n) {
    int row = blockIdx.y * TILE;
    int column = (blockIdx.x * 4 + threadIdx.x / warpSize) * TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += TILE) {
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + k * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
