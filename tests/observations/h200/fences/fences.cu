// Fences after stores. Each warp stores n times to 32 words, m bytes apart, and then has a fence; it
// leaves the cycles of the stores in t[2 * warp], those of the fence in t[2 * warp + 1]. fences.csv
// has the means of a block's warps on an H200 (driver 580.159.04), the last of three launches; a name
// is the fence, n and m. The second round counts.
//
//! const  n = 1
//! const  m = 4
//! grid   = 1
//! block  = 32
//! buffer out: s32[1048576] = fill(0)
//! buffer t: s32[32] = fill(0)
//! arg    0 = out
//! arg    1 = t
//! arg    2 = n
//! arg    3 = m
//! arg    4 = 0

__device__ __forceinline__ int clk() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) :: "memory");
    return (int)now;
}

#define FENCE(name, fence) extern "C" __global__ void name(char *out, int *t, int n, int m, int bstep) { \
    unsigned l = threadIdx.x & 31, w = threadIdx.x / 32; char *a = out + (size_t)blockIdx.x * bstep + w * 65536 * 4 + l * m; int c0, c1, c2; \
    for (int r = 0; r < 2; r++) { __syncthreads(); fence; fence; \
        c0 = clk(); _Pragma("unroll 1") for (int k = 0; k < n; k++) asm volatile("st.global.u32 [%0], %1;" :: "l"(a + k * 32 * m), "r"(k) : "memory"); \
        c1 = clk(); fence; c2 = clk(); } \
    if (l == 0) { int *o = t + (blockIdx.x * 16 + w) * 2; o[0] = c1 - c0; o[1] = c2 - c1; } }
FENCE(block, __threadfence_block())
FENCE(gpu, __threadfence())
FENCE(sys, __threadfence_system())
