// Convolution of an image with 3 x 3 weights; each block of 16 x 16 threads loads its tile with a
// border of one pixel to shared memory. convolve_texture.cu fetches from a texture.
//
// The width and the height must be multiples of 16.
//
//! kernel convolveShared
//! title  Convolution by shared memory (nvcc)
//! const  width = 128
//! const  height = 64
//! grid   = (width / 16, height / 16)
//! block  = (16, 16)
//! buffer in: f32[width * height] = i * i % 251 for i
//! buffer weights: f32[9] = [1, 2, 1, 2, 4, 2, 1, 2, 1]
//! buffer out: f32[width * height]
//! arg    0 = in
//! arg    1 = out
//! arg    2 = width
//! arg    3 = height
//! expect out == (in[max(0, i / width - 1) * width + max(0, i % width - 1)] * weights[0] +
//!     in[max(0, i / width - 1) * width + i % width] * weights[1] +
//!     in[max(0, i / width - 1) * width + min(width - 1, i % width + 1)] * weights[2] +
//!     in[i / width * width + max(0, i % width - 1)] * weights[3] +
//!     in[i / width * width + i % width] * weights[4] +
//!     in[i / width * width + min(width - 1, i % width + 1)] * weights[5] +
//!     in[min(height - 1, i / width + 1) * width + max(0, i % width - 1)] * weights[6] +
//!     in[min(height - 1, i / width + 1) * width + i % width] * weights[7] +
//!     in[min(height - 1, i / width + 1) * width + min(width - 1, i % width + 1)] * weights[8]
//!     ) for i
#define TILE 16
#define SIDE (TILE + 2)

__constant__ float weights[9];

extern "C" __global__ void convolveShared(const float *in, float *out, int width, int height)
{
    __shared__ float tile[SIDE][SIDE];
    int left = blockIdx.x * TILE - 1;
    int top = blockIdx.y * TILE - 1;

    for (int i = threadIdx.y * TILE + threadIdx.x; i < SIDE * SIDE; i += TILE * TILE) {
        int x = min(max(left + i % SIDE, 0), width - 1);
        int y = min(max(top + i / SIDE, 0), height - 1);
        tile[i / SIDE][i % SIDE] = in[y * width + x];
    }
    __syncthreads();

    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++)
            sum += weights[dy * 3 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[(top + 1 + threadIdx.y) * width + left + 1 + threadIdx.x] = sum;
}
