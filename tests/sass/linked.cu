// Functions that the linker leaves outside of the kernels, and a pointer to one.
//   nvcc -arch=sm_90 -lineinfo -dc linked.cu -o linked.o
//   nvcc -arch=sm_90 -dlink -cubin linked.o -o linked.cubin
//   simt-sim import linked.cubin -o linked.sass
#include <cstdio>

__device__ int table[4] = {1, 10, 100, 1000};

__device__ __noinline__ int scale(int x) { return 3 * x + table[x & 3]; }

__device__ int (*chosen)(int) = scale;

__device__ __noinline__ int either(int x) {
    if (x & 1) return scale(x);
    return chosen(x + 1) - 3;
}

__device__ __noinline__ void say(int x) {
    if (x == 5) printf("lane %d\n", x);
}

__global__ void first(int *out) {
    say(threadIdx.x);
    out[threadIdx.x] = either(threadIdx.x);
}

__global__ void second(int *out) {
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += chosen(threadIdx.x + i);
    out[threadIdx.x] = sum;
}
