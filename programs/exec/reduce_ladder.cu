// The ladder of reductions, each rung faster than the one before: pairs, strided pairs, interleaved
// pairs, unrolled blocks, an unrolled last warp, a complete template, shuffles.
//
//   nvcc -o reduce_ladder reduce_ladder.cu
//   simt-sim exec --metrics inst_per_warp,gld_transactions -- ./reduce_ladder
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const unsigned int N = 1 << 14;
static const unsigned int THREADS = 256;

__global__ void neighbored(int *data, int *out, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    int *idata = data + blockIdx.x * blockDim.x;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = idata[0];
}

__global__ void neighboredLess(int *data, int *out, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    int *idata = data + blockIdx.x * blockDim.x;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        unsigned int index = 2 * stride * tid;
        if (index < blockDim.x)
            idata[index] += idata[index + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = idata[0];
}

__global__ void interleaved(int *data, int *out, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    int *idata = data + blockIdx.x * blockDim.x;
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = idata[0];
}

template <int BLOCKS> __global__ void unrolled(int *data, int *out, unsigned int n)
{
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * BLOCKS + tid;
    int *idata = data + blockIdx.x * blockDim.x * BLOCKS;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
        if (idx + i * blockDim.x < n)
            sum += data[idx + i * blockDim.x];
    data[idx] = sum;
    __syncthreads();
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            idata[tid] += idata[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = idata[0];
}

template <unsigned int SIZE> __global__ void complete(int *data, int *out, unsigned int n)
{
    __shared__ int shared[SIZE];
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * SIZE * 8 + tid;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += data[idx + i * SIZE];
    shared[tid] = sum;
    __syncthreads();
    if (SIZE >= 256 && tid < 128)
        shared[tid] += shared[tid + 128];
    __syncthreads();
    if (SIZE >= 128 && tid < 64)
        shared[tid] += shared[tid + 64];
    __syncthreads();
    if (tid < 32) {
        sum = shared[tid] + shared[tid + 32];
        for (int lane = 16; lane > 0; lane >>= 1)
            sum += __shfl_down_sync(0xffffffff, sum, lane);
    }
    if (tid == 0)
        out[blockIdx.x] = sum;
}

__global__ void shuffled(const int *data, int *out, unsigned int n)
{
    __shared__ int warps[32];
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = idx < n ? data[idx] : 0;
    for (int lane = 16; lane > 0; lane >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, lane);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int lane = 16; lane > 0; lane >>= 1)
            sum += __shfl_xor_sync(0xffffffff, sum, lane);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

struct Rung {
    const char *name;
    unsigned int blocks; // of elements that a block of threads adds
    void (*launch)(unsigned int grid, int *data, int *out);
};

int main()
{
    std::vector<int> host(N);
    long expected = 0;
    for (unsigned int i = 0; i < N; i++) {
        host[i] = (i * 31 + 7) & 0xff;
        expected += host[i];
    }
    const Rung rungs[] = {
        {"neighbored", 1, [](unsigned int g, int *d, int *o) { neighbored<<<g, THREADS>>>(d, o, N); }},
        {"neighboredLess", 1,
         [](unsigned int g, int *d, int *o) { neighboredLess<<<g, THREADS>>>(d, o, N); }},
        {"interleaved", 1, [](unsigned int g, int *d, int *o) { interleaved<<<g, THREADS>>>(d, o, N); }},
        {"unrolled<2>", 2, [](unsigned int g, int *d, int *o) { unrolled<2><<<g, THREADS>>>(d, o, N); }},
        {"unrolled<8>", 8, [](unsigned int g, int *d, int *o) { unrolled<8><<<g, THREADS>>>(d, o, N); }},
        {"complete<256>", 8,
         [](unsigned int g, int *d, int *o) { complete<THREADS><<<g, THREADS>>>(d, o, N); }},
        {"shuffled", 1, [](unsigned int g, int *d, int *o) { shuffled<<<g, THREADS>>>(d, o, N); }},
    };

    int *data, *out;
    cudaMalloc(&data, N * sizeof(int));
    cudaMalloc(&out, N / THREADS * sizeof(int));
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    int wrong = 0;
    for (const Rung &rung : rungs) {
        unsigned int grid = N / THREADS / rung.blocks;
        cudaMemcpy(data, host.data(), N * sizeof(int), cudaMemcpyHostToDevice);
        cudaEventRecord(start);
        rung.launch(grid, data, out);
        cudaEventRecord(stop);
        cudaError_t error = cudaEventSynchronize(stop);
        if (error != cudaSuccess) {
            std::printf("%-16s %s\n", rung.name, cudaGetErrorString(error));
            return 1;
        }
        float ms;
        cudaEventElapsedTime(&ms, start, stop);
        std::vector<int> sums(grid);
        cudaMemcpy(sums.data(), out, grid * sizeof(int), cudaMemcpyDeviceToHost);
        long sum = 0;
        for (int part : sums)
            sum += part;
        wrong += sum != expected || ms <= 0;
        std::printf("%-16s grid %2u sum %ld %s\n", rung.name, grid, sum,
                    sum == expected ? "right" : "WRONG");
    }
    cudaFree(data);
    cudaFree(out);
    std::printf("%d wrong\n", wrong);
    return wrong;
}
