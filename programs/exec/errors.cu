// Mistakes, and the errors that a program gets for them: those of a call pass, that of a kernel stays.
//
//   nvcc -o errors errors.cu
//   simt-sim exec -- ./errors
#include <cstdio>
#include <cuda_runtime.h>

__global__ void store(int *data, int at)
{
    data[at] = 1;
}

static void tell(const char *what, cudaError_t error)
{
    std::printf("%-22s %-32s last %s\n", what, cudaGetErrorName(error),
                cudaGetErrorName(cudaGetLastError()));
}

int main()
{
    int *data = nullptr, value = 0;
    tell("too much memory", cudaMalloc(&data, (size_t)1 << 50));
    tell("free of no allocation", cudaFree((void *)0x1234));
    tell("copy to null", cudaMemcpy(nullptr, &value, 4, cudaMemcpyHostToDevice));
    tell("unknown direction", cudaMemcpy(&value, &value, 4, (cudaMemcpyKind)7));
    tell("no such device", cudaSetDevice(99));
    store<<<1, 2048>>>(nullptr, 0);
    tell("2048 threads", cudaPeekAtLastError());
    store<<<0, 1>>>(nullptr, 0);
    tell("no blocks", cudaPeekAtLastError());
    store<<<1, 1, 1 << 20>>>(nullptr, 0);
    tell("1 MiB of shared memory", cudaPeekAtLastError());
    tell("still fine", cudaMalloc(&data, 1024));

    store<<<1, 1>>>(data, 1 << 28);
    tell("wild store", cudaDeviceSynchronize());
    tell("afterwards", cudaMemcpy(&value, data, 4, cudaMemcpyDeviceToHost));
    tell("reset", cudaDeviceReset());
    tell("anew", cudaMalloc(&data, 1024));
    store<<<1, 1>>>(data, 3);
    tell("good store", cudaDeviceSynchronize());
    return 0;
}
