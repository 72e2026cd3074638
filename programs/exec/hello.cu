// printf from a kernel, in order of blocks and lanes, between lines that the host prints.
//
//   nvcc -o hello hello.cu
//   simt-sim exec -- ./hello
#include <cstdio>
#include <cuda_runtime.h>

__global__ void hello(const char *unused, double half)
{
    if (threadIdx.x % 16 == 0)
        printf("block %d thread %2d: %s %.2f %lld\n", blockIdx.x, threadIdx.x,
               threadIdx.x ? "upper" : "lower", half * threadIdx.x, 1ll << (32 + blockIdx.x));
}

int main()
{
    std::printf("before\n");
    hello<<<2, 32>>>(nullptr, 0.5);
    cudaDeviceSynchronize();
    std::printf("between\n");
    hello<<<1, 16>>>(nullptr, 0.25);
    cudaDeviceReset(); // writes what the kernel printed, too
    std::printf("after\n");
    return 0;
}
