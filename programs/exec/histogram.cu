// Histogram of bytes: one counter array for all, then one in each block's shared memory. The
// counters are managed memory, the bins' weights constant memory, the total a device variable.
//
//   nvcc -o histogram histogram.cu
//   simt-sim exec --metrics atomic_transactions -- ./histogram
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define BINS 64

__constant__ unsigned int weights[BINS];
__device__ unsigned int total;
__managed__ unsigned int launches;

__global__ void direct(const unsigned char *data, int n, unsigned int *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i] % BINS], 1u);
}

__global__ void privatized(const unsigned char *data, int n, unsigned int *bins)
{
    extern __shared__ unsigned int own[];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

__global__ void weigh(const unsigned int *bins)
{
    atomicAdd(&total, bins[threadIdx.x] * weights[threadIdx.x]);
    if (threadIdx.x == 0)
        launches += 1;
}

int main()
{
    const int n = 10000;
    static unsigned char host[n];
    unsigned int expected[BINS] = {0}, weight[BINS], sum = 0, got = 0, zero = 0;
    for (int i = 0; i < n; i++) {
        host[i] = (unsigned char)(i * i / 7);
        expected[host[i] % BINS]++;
    }
    for (int b = 0; b < BINS; b++) {
        weight[b] = b + 1;
        sum += expected[b] * weight[b];
    }
    cudaMemcpyToSymbol(weights, weight, sizeof weight);

    unsigned char *data;
    unsigned int *bins;
    cudaMalloc(&data, n);
    cudaMallocManaged(&bins, BINS * sizeof(unsigned int));
    cudaMemcpy(data, host, n, cudaMemcpyHostToDevice);
    for (int version = 0; version < 2; version++) {
        std::memset(bins, 0, BINS * sizeof(unsigned int));
        cudaMemcpyToSymbol(total, &zero, sizeof zero);
        if (version == 0)
            direct<<<8, 128>>>(data, n, bins);
        else
            privatized<<<8, 128, BINS * sizeof(unsigned int)>>>(data, n, bins);
        weigh<<<1, BINS>>>(bins);
        cudaError_t error = cudaDeviceSynchronize();
        int wrong = 0;
        for (int b = 0; b < BINS; b++)
            wrong += bins[b] != expected[b];
        cudaMemcpyFromSymbol(&got, total, sizeof got);
        std::printf("%s: %s, %d bins wrong, weighed %u of %u\n", version ? "privatized" : "direct",
                    cudaGetErrorString(error), wrong, got, sum);
    }
    std::printf("weighed %u times\n", launches);
    size_t size = 0;
    void *where = nullptr;
    cudaGetSymbolSize(&size, weights);
    cudaGetSymbolAddress(&where, total);
    std::printf("weights have %zu bytes; total has an address: %d\n", size, where != nullptr);
    cudaFree(data);
    cudaFree(bins);
    return 0;
}
