// c = a * b by tiles in shared memory: load a tile of each, wait, multiply, wait, and so on. While
// the loads are under way, no warp of the block multiplies.
//
//! kernel matmul
//! title  Matrix product by tiles in shared memory (nvcc)
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

constexpr int TILE = 16;

// n is a multiple of TILE.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
