// Properties of the device, attributes of a kernel, and the occupancy that follows from them.
//
//   nvcc -o device_query device_query.cu
//   simt-sim exec --machine h200 -- ./device_query
#include <cstdio>
#include <cuda_runtime.h>

__global__ void tile(const float *in, float *out)
{
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[255 - threadIdx.x];
}

int main()
{
    int count = 0, driver = 0, runtime = 0;
    cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    std::printf("%d device(s), driver %d, runtime %d\n", count, driver, runtime / 1000);

    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    int clock = 0;
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    std::printf("%s, compute capability %d.%d\n", p.name, p.major, p.minor);
    std::printf("%d SMs, warps of %d, %d threads a block, %d an SM\n", p.multiProcessorCount,
                p.warpSize, p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor);
    std::printf("%zu KiB shared a block, %zu KiB an SM, %d registers\n", p.sharedMemPerBlock / 1024,
                p.sharedMemPerMultiprocessor / 1024, p.regsPerMultiprocessor);
    std::printf("grid %d x %d x %d, block %d x %d x %d\n", p.maxGridSize[0], p.maxGridSize[1],
                p.maxGridSize[2], p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
    std::printf("L2 %d KiB, clock %d kHz, memory %d\n", p.l2CacheSize / 1024, clock,
                p.totalGlobalMem > 0);

    cudaFuncAttributes f;
    cudaError_t error = cudaFuncGetAttributes(&f, tile);
    std::printf("tile: %s, %zu bytes shared, %zu local, at most %d threads\n",
                cudaGetErrorName(error), f.sharedSizeBytes, f.localSizeBytes, f.maxThreadsPerBlock);
    for (int threads = 64; threads <= 1024; threads *= 4) {
        int blocks = 0;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, threads, 0);
        std::printf("%4d threads: %d blocks, occupancy %.2f\n", threads, blocks,
                    (double)blocks * threads / p.maxThreadsPerMultiProcessor);
    }
    int least = 1, best = 0;
    cudaOccupancyMaxPotentialBlockSize(&least, &best, tile, 0, 0);
    std::printf("best block %d, smallest full grid %d\n", best, least);
    return 0;
}
