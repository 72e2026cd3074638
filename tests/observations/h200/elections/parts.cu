// Further warps whose lanes meet in parts, recorded in parts.csv as those of elections.cu: in unrolled
// loops, where they meet by WARPSYNC.COLLECTIVE, and behind a branch. n is the lanes of a part.
//
//! const  n = 8
//! grid   = 1
//! block  = 32
//! buffer out: s32[1024] = fill(0)
//! buffer t: s32[64] = fill(0)
//! arg    0 = out
//! arg    1 = t
//! arg    2 = n

__device__ __forceinline__ int clk() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return (int)now;
}

__device__ __forceinline__ unsigned part(int n) {
    return ((1u << n) - 1) << (threadIdx.x & 31 & -n);
}

#define KERNEL(name, times, repeated)                                        \
    extern "C" __global__ void name(int *out, int *t, int n) {               \
        int v = threadIdx.x * 37, c0, c1;                                    \
        for (int round = 0; round < 2; round++) {                            \
            __syncthreads();                                                 \
            c0 = clk();                                                      \
            _Pragma(times) for (int k = 0; k < 16; k++) { repeated; }        \
            c1 = clk();                                                      \
        }                                                                    \
        out[threadIdx.x] = v;                                                \
        if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = c1 - c0;            \
    }
#define IN_PART if ((threadIdx.x & 31) < n) v += __shfl_xor_sync(part(n), v, 1)

KERNEL(unrolled, "unroll 4", v += __shfl_xor_sync(part(n), v, 1))
KERNEL(unrolled_sums, "unroll 4", v += __reduce_add_sync(part(n), v) & 7)
KERNEL(branch, "unroll 1", IN_PART)
KERNEL(whole, "unroll 1", IN_PART; __syncwarp())
