// A pointer to a function that the linker leaves outside of the kernel, of which the lanes call
// different ones.
//   nvcc -arch=sm_90 -lineinfo -dc pointed.cu -o pointed.o
//   nvcc -arch=sm_90 -dlink -cubin pointed.o -o pointed.cubin
//   simt-sim import pointed.cubin -o pointed.sass
// pointed_debug.sass: the same with -G.
//
//! title  A pointer to functions outside of the kernel
//! grid   = 2
//! block  = 64
//! buffer out: s32[128] = fill(0)
//! arg    0 = out
//! expect out[5] == 2122
//! expect out[100] == 28242
__device__ int table[4] = {1, 10, 100, 1000};

__device__ __noinline__ int scale(int x) { return 3 * x + table[x & 3]; }

__device__ __noinline__ int turn(int x) { return scale(x) ^ x << 7; }

__device__ int (*chosen[2])(int) = {scale, turn};

extern "C" __global__ void pointed(int *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 5; k++) {
        sum += chosen[i + k & 1](i + k);
        __threadfence_system();
    }
    out[i] = sum;
}
