// Sum of n integers: on the host, then on the GPU by neighbored pairs, timed by events.
//
//   nvcc -o reduce reduce.cu
//   simt-sim exec --metrics inst_per_warp,divergent_branch -- ./reduce [n]
//
// After "reduceInteger" of Professional CUDA C Programming, chapter 3.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t error = (call);                                                    \
        if (error != cudaSuccess) {                                                    \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                              \
        }                                                                              \
    } while (0)

__global__ void reduceNeighbored(int *g_idata, int *g_odata, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int *idata = g_idata + blockIdx.x * blockDim.x;
    if (idx >= n)
        return;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        g_odata[blockIdx.x] = idata[0];
}

static long recursiveReduce(const int *data, int size)
{
    if (size == 1)
        return data[0];
    int half = size / 2;
    return recursiveReduce(data, half) + recursiveReduce(data + half, size - half);
}

int main(int argc, char **argv)
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaSetDevice(0));

    int n = argc > 1 ? std::atoi(argv[1]) : 1 << 14;
    const int threads = 512;
    int blocks = (n + threads - 1) / threads;
    std::printf("array of %d, grid %d, block %d\n", n, blocks, threads);

    size_t bytes = n * sizeof(int);
    int *h_idata = (int *)std::malloc(bytes);
    int *h_odata = (int *)std::malloc(blocks * sizeof(int));
    for (int i = 0; i < n; i++)
        h_idata[i] = (i * 7919 + 13) & 0xff;
    long cpu_sum = recursiveReduce(h_idata, n);

    int *d_idata, *d_odata;
    CHECK(cudaMalloc(&d_idata, bytes));
    CHECK(cudaMalloc(&d_odata, blocks * sizeof(int)));
    CHECK(cudaMemcpy(d_idata, h_idata, bytes, cudaMemcpyHostToDevice));

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    reduceNeighbored<<<blocks, threads>>>(d_idata, d_odata, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));

    CHECK(cudaMemcpy(h_odata, d_odata, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    long gpu_sum = 0;
    for (int i = 0; i < blocks; i++)
        gpu_sum += h_odata[i];
    std::printf("cpu %ld, gpu %ld: %s\n", cpu_sum, gpu_sum, cpu_sum == gpu_sum ? "equal" : "WRONG");
    std::printf("the kernel took %s\n", ms > 0 ? "time" : "NO TIME");

    CHECK(cudaFree(d_idata));
    CHECK(cudaFree(d_odata));
    std::free(h_idata);
    std::free(h_odata);
    CHECK(cudaDeviceReset());
    return cpu_sum != gpu_sum;
}
