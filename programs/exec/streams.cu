// Streams and events: two streams with copies and kernels of their own, an event of one that the
// other waits for, a function that a stream calls, times that do not run backwards.
//
//   nvcc -o streams streams.cu
//   simt-sim exec -- ./streams
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = value + i;
}

__global__ void add(const int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] += a[i];
}

static void CUDART_CB note(void *argument)
{
    *(int *)argument += 1;
}

int main()
{
    const int n = 1000;
    int *a, *b, *host, calls = 0;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocDefault);

    cudaStream_t first, second;
    cudaEvent_t begin, filled, end;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&begin);
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
    cudaEventCreate(&end);

    cudaEventRecord(begin, first);
    fill<<<4, 256, 0, first>>>(a, n, 100);
    cudaEventRecord(filled, first);
    fill<<<4, 256, 0, second>>>(b, n, 1000);
    cudaStreamWaitEvent(second, filled, 0);
    add<<<4, 256, 0, second>>>(a, b, n);
    cudaMemcpyAsync(host, b, n * sizeof(int), cudaMemcpyDeviceToHost, second);
    cudaLaunchHostFunc(second, note, &calls);
    cudaEventRecord(end, second);
    cudaEventSynchronize(end);
    cudaStreamSynchronize(second);

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += host[i] != 1100 + 2 * i;
    float ms = -1;
    cudaError_t error = cudaEventElapsedTime(&ms, begin, end);
    std::printf("%d wrong, %d call, forwards: %d (%s)\n", wrong, calls, ms > 0,
                cudaGetErrorName(error));
    std::printf("first %s, second %s, event %s\n", cudaGetErrorName(cudaStreamQuery(first)),
                cudaGetErrorName(cudaStreamQuery(second)), cudaGetErrorName(cudaEventQuery(end)));
    std::printf("untimed event: %s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, filled, end)));
    cudaGetLastError();

    cudaEventDestroy(begin);
    cudaEventDestroy(filled);
    cudaEventDestroy(end);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(a);
    cudaFree(b);
    cudaFreeHost(host);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
