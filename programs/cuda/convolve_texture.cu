// Convolution of an image with 3 x 3 weights; each thread fetches its nine texels from a texture.
// The texture unit clamps coordinates at the edges. convolve_shared.cu reads from a tile in shared
// memory.
//
// The width and the height must be multiples of 16.
//
//! kernel convolveTexture
//! title  Convolution by texture (nvcc)
//! const  width = 128
//! const  height = 64
//! grid   = (width / 16, height / 16)
//! block  = (16, 16)
//! buffer in: f32[width * height] = i * i % 251 for i
//! buffer weights: f32[9] = [1, 2, 1, 2, 4, 2, 1, 2, 1]
//! texture image: in[width, height] clamp
//! buffer out: f32[width * height]
//! arg    0 = image
//! arg    1 = out
//! arg    2 = width
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
__constant__ float weights[9];

extern "C" __global__ void convolveTexture(cudaTextureObject_t image, float *out, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    float sum = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++)
            sum += weights[(dy + 1) * 3 + dx + 1]
                   * tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
    out[y * width + x] = sum;
}
