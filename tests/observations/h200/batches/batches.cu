// Cycles of batches of loads that one thread makes at once, of lines that L2 lacks: `stride` bytes
// apart, or drawn from 1 GB (0); L2 clean or dirty, DRAM idle for some microseconds before.
//
//     nvcc -O3 -arch=sm_90 batches.cu -o batches && ./batches > batches.txt
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

const int LOADS = 4096;

template <int B>
__global__ void batch(const char *data, unsigned *cycles, const unsigned *lines) {
    for (int i = 0; i < LOADS; i += B) {
        unsigned line[B], all = 0;
        int value[B], sum = 0;
#pragma unroll
        for (int k = 0; k < B; k++) line[k] = lines[i + k];
#pragma unroll
        for (int k = 0; k < B; k++) all |= line[k];
        all = all == ~0u;  // 0, once all lines are known
        unsigned begin = clock() + all;
#pragma unroll
        for (int k = 0; k < B; k++)
            asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(value[k]) : "l"(data + (size_t)(line[k] + all) * 128));
#pragma unroll
        for (int k = 0; k < B; k++) sum |= value[k];
        cycles[i / B] = clock() + sum - begin;
    }
}

// Reads data, which leaves L2 clean.
__global__ void read(const int4 *data, int *out, size_t n) {
    int sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += data[i].x;
    if (sum == 12345) *out = sum;
}

int main() {
    const size_t bytes = 1024u << 20, others = 512u << 20;
    char *data, *other;
    unsigned *cycles, *lines;
    cudaMalloc(&data, bytes);
    cudaMalloc(&other, others);
    cudaMalloc(&cycles, LOADS * 4);
    cudaMalloc(&lines, LOADS * 4);
    cudaMemset(data, 0, bytes);
    for (int dirty = 0; dirty < 2; dirty++)
        for (int idle = 0; idle < 50000; idle += 30000)
            for (size_t stride : {128, 1024, 8192, 65536, 0})
                for (int loads : {4, 16, 32}) {
                    std::vector<unsigned> line(LOADS);
                    srand(5);
                    for (int i = 0; i < LOADS; i++)
                        line[i] = stride ? i * stride % bytes / 128 : ((unsigned)rand() << 12 ^ rand()) % (bytes / 128);
                    cudaMemcpy(lines, line.data(), LOADS * 4, cudaMemcpyHostToDevice);
                    if (dirty) cudaMemset(other, loads, others);
                    else read<<<1024, 256>>>((const int4 *)other, (int *)cycles, others / 16);
                    cudaDeviceSynchronize();
                    usleep(idle);
                    if (loads == 4) batch<4><<<1, 1>>>(data, cycles, lines);
                    if (loads == 16) batch<16><<<1, 1>>>(data, cycles, lines);
                    if (loads == 32) batch<32><<<1, 1>>>(data, cycles, lines);
                    std::vector<unsigned> sorted(LOADS / loads);
                    cudaMemcpy(sorted.data(), cycles, sorted.size() * 4, cudaMemcpyDeviceToHost);
                    std::sort(sorted.begin(), sorted.end());
                    double mean = 0;
                    for (unsigned x : sorted) mean += x;
                    size_t n = sorted.size();
                    printf("dirty %d idle %5d stride %5zu loads %2d: mean %4.0f tenths %u %u %u slowest %u\n",
                           dirty, idle, stride, loads, mean / n, sorted[n / 10], sorted[n / 2],
                           sorted[n * 9 / 10], sorted[n - 1]);
                }
    return cudaGetLastError();
}
