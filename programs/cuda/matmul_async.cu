// c = a * b by tiles in two buffers: asynchronous copies (cp.async) fill one while the block
// multiplies the other. A thread waits for its own copies, and a barrier for those of the others.
//
//! kernel matmul
//! title  Matrix product by tiles in two buffers, copied asynchronously (nvcc)
//! const  n = 64
//! grid   = (n / 16, n / 16)
//! block  = (16, 16)
//! buffer a: f32[n * n] = random(7, 0..16)
//! buffer b: f32[n * n] = (i / n == (5 * (i % n) + 3) % n) + 2 * (i / n == 7 * (i % n) % n) for i
//! buffer c: f32[n * n]
//! arg    0 = a
//! arg    1 = b
//! arg    2 = c
//! arg    3 = n
//! expect c == (a[i / n * n + (5 * (i % n) + 3) % n] + 2 * a[i / n * n + 7 * (i % n) % n]) for i

#include <cuda_pipeline.h>

constexpr int TILE = 16;

// n is a multiple of TILE.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float as[2][TILE][TILE];
    __shared__ float bs[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    auto copy = [&](int k, int buffer) {
        __pipeline_memcpy_async(&as[buffer][y][x], &a[row * n + k + x], sizeof(float));
        __pipeline_memcpy_async(&bs[buffer][y][x], &b[(k + y) * n + column], sizeof(float));
    };
    copy(0, 0);
    __pipeline_commit();
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        int buffer = k / TILE % 2;
        if (k + TILE < n)
            copy(k + TILE, 1 - buffer);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += as[buffer][y][i] * bs[buffer][i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
