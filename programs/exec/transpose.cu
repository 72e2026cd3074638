// Transpose of a matrix: rows written as columns, through shared memory, through padded shared memory.
//
//   nvcc -o transpose transpose.cu
//   simt-sim exec --metrics gst_transactions_per_request,shared_store_bank_conflict -- ./transpose
#include <cstdio>
#include <cuda_runtime.h>

#define TILE 32
#define ROWS 8

__global__ void naive(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    for (int y = blockIdx.y * TILE + threadIdx.y; y < (blockIdx.y + 1) * TILE; y += ROWS)
        if (x < width && y < height)
            out[x * height + y] = in[y * width + x];
}

template <int PAD> __global__ void tiled(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int width = 100, height = 70; // no multiples of the tile
    float *host, *back, *in, *out;
    size_t pitch, bytes = width * height * sizeof(float);
    cudaMallocHost(&host, bytes);
    cudaMallocHost(&back, bytes);
    cudaMalloc(&in, bytes);
    // Rows of the result: a pitched allocation whose pitch the kernels do not use.
    cudaMallocPitch(&out, &pitch, height * sizeof(float), width);
    for (int i = 0; i < width * height; i++)
        host[i] = (float)i;
    cudaMemcpy2D(in, width * sizeof(float), host, width * sizeof(float), width * sizeof(float),
                 height, cudaMemcpyHostToDevice);
    std::printf("pitch is a multiple of 32: %d\n", pitch % 32 == 0 && pitch >= height * 4);

    dim3 block(TILE, ROWS), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    const char *names[] = {"naive", "tiled", "tiled, padded"};
    for (int version = 0; version < 3; version++) {
        cudaMemset2D(out, pitch, 0, height * sizeof(float), width);
        switch (version) {
        case 0: naive<<<grid, block>>>(in, out, width, height); break;
        case 1: tiled<0><<<grid, block>>>(in, out, width, height); break;
        default: tiled<1><<<grid, block>>>(in, out, width, height); break;
        }
        cudaMemcpy(back, out, bytes, cudaMemcpyDefault);
        int wrong = 0;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                wrong += back[x * height + y] != host[y * width + x];
        std::printf("%-14s %s, %d wrong\n", names[version], cudaGetErrorName(cudaGetLastError()),
                    wrong);
    }
    cudaFree(in);
    cudaFree(out);
    cudaFreeHost(host);
    cudaFreeHost(back);
    return 0;
}
