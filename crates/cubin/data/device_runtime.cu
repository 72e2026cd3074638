// Functions that a driver adds to linked cubins: the grid barrier of cooperative launches. They do
// the same as those in crates/cuda/data/device_runtime.ptx, under the names that NVIDIA's device
// runtime calls. The listing beside this file comes from
//   nvcc -arch=sm_90 -dc device_runtime.cu -o device_runtime.o
//   nvcc -arch=sm_90 -dlink -cubin device_runtime.o -o device_runtime.cubin
//   simt-sim import device_runtime.cubin -o device_runtime.sass
__device__ unsigned simt_grid_barrier;

// Handle of a scope: 1 is the grid, others have none.
extern "C" __device__ __noinline__ unsigned long long
__cuda_syscall_CGS_get_intrinsic_handle(int scope) {
    return scope == 1 ? (unsigned long long)&simt_grid_barrier : 0;
}

// Waits for all threads of the grid. The first block adds 2^31 less the number of the others, each
// other block 1, so that every use flips the highest bit.
extern "C" __device__ __noinline__ int __cuda_syscall_CGS_sync(unsigned *word) {
    __syncthreads();
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
        unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
        __threadfence();
        unsigned before = atomicAdd(word, first ? 0x80000001u - blocks : 1u);
        while (int(*(volatile unsigned *)word ^ before) >= 0) {
        }
        __threadfence();
    }
    __syncthreads();
    return 0;
}

// Makes the linker keep both.
__global__ void keep() {
    __cuda_syscall_CGS_sync((unsigned *)__cuda_syscall_CGS_get_intrinsic_handle(1));
}
