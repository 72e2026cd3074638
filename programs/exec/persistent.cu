// A kernel that stays: the host writes requests to pinned memory, one block answers them there,
// and the last request ends it.
//
//   nvcc -o persistent persistent.cu
//   simt-sim exec ./persistent
#include <cstdio>
#include <cuda_runtime.h>

struct Mailbox {
    int request;   // number of the request, by the host; negative: end
    int answer;    // number of the last request that was answered
    int values[64];
};

__global__ void serve(volatile Mailbox *box) {
    __shared__ int request;
    for (int served = 0;; served = request) {
        if (threadIdx.x == 0) {
            while (box->request == served) {
            }
            request = box->request;
            __threadfence_system();
        }
        __syncthreads();
        if (request < 0) {
            return;
        }
        int value = box->values[threadIdx.x];
        box->values[threadIdx.x] = value * value;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) {
            box->answer = request;
        }
    }
}

int main() {
    Mailbox *box, *on_device;
    cudaHostAlloc(&box, sizeof(Mailbox), cudaHostAllocMapped);
    *box = Mailbox();
    cudaHostGetDevicePointer(&on_device, box, 0);
    serve<<<1, 64>>>(on_device);
    volatile Mailbox *shared = box;
    for (int number = 1; number <= 3; number++) {
        for (int i = 0; i < 64; i++) {
            shared->values[i] = number * i;
        }
        __sync_synchronize();
        shared->request = number;
        while (shared->answer != number) {
        }
        __sync_synchronize();
        int sum = 0;
        for (int i = 0; i < 64; i++) {
            sum += shared->values[i];
        }
        printf("request %d: sum of squares %d\n", number, sum);
    }
    shared->request = -1;
    cudaError_t error = cudaDeviceSynchronize();
    printf("ended: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
