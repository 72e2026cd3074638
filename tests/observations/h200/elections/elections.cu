// Warps whose lanes meet in parts, and blocks that meet in a vote. Each warp does so 16 times and
// leaves the cycles in t[2 * warp]; the second round counts. elections.csv has the means of a
// block's warps on an H200 (driver 580.159.04), the medians of seven launches; a name is the kernel
// and n, the lanes of a part (`groups`: the number of parts, `any` and `count`: nothing).
//
//! const  n = 8
//! grid   = 1
//! block  = 32
//! buffer out: s32[1024] = fill(0)
//! buffer t: s32[64] = fill(0)
//! arg    0 = out
//! arg    1 = t
//! arg    2 = n

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ __forceinline__ int clk() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return (int)now;
}

__device__ __forceinline__ unsigned part(int n) {
    return ((1u << n) - 1) << (threadIdx.x & 31 & -n);
}

__device__ __forceinline__ auto alike(int v) {
    return cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), v);
}

#define KERNEL(name, repeated)                                             \
    extern "C" __global__ void name(int *out, int *t, int n) {             \
        int v = threadIdx.x * 37, c0, c1;                                  \
        for (int round = 0; round < 2; round++) {                          \
            __syncthreads();                                               \
            c0 = clk();                                                    \
            _Pragma("unroll 1") for (int k = 0; k < 16; k++) v += repeated; \
            c1 = clk();                                                    \
        }                                                                  \
        out[threadIdx.x] = v;                                              \
        if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = c1 - c0;          \
    }

KERNEL(shuffles, __shfl_xor_sync(part(n), v, 1))
KERNEL(sums, __reduce_add_sync(part(n), v) & 7)
KERNEL(groups, cg::reduce(alike((threadIdx.x + k) % n), v, cg::plus<int>()))
KERNEL(any, __syncthreads_or(v & 1))
KERNEL(count, __syncthreads_count(v & 1))
