// Stores of whole lines by all SMs, each warp to some of its own in turn. Each kernel leaves the
// cycles of each warp in t[2 * warp]. lines.csv has the mean of all warps of 132 blocks on an H200
// (driver 580.159.04), the median of seven launches after 256 MB were written.
//
//! grid   = 132
//! block  = 256
//! buffer t: s32[8448] = fill(0)
//! buffer u: s32[8651776] = fill(0)
//! arg    0 = t
//! arg    1 = u
//! arg    2 = 0

// The clock once x is known.
__device__ __forceinline__ int clock_after(int &x) {
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(x) :: "memory");
    return now;
}
// 256 stores of each warp, to `lines` lines of local memory, and of global memory.
#define STORES(name, array, lines, at) extern "C" __global__ void name(int *t, int *u, int zero) { \
    unsigned lane = threadIdx.x & 31, w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; array; \
    for (int j = 0; j < lines; j++) a[at(j)] = j + 1; \
    __syncthreads(); int c0 = clock_after(zero), c1; \
    _Pragma("unroll 4") for (int k = 0; k < 256; k++) a[at((k + w) & (lines - 1))] = k; \
    c1 = clock_after(zero); if (lane == 0) t[w * 2] = c1 - c0; }
#define OWN(lines) volatile int a[lines]
#define COMMON(lines) volatile int *a = u + w * lines * 32 + lane
#define WORD(k) (k)
#define ROW(k) ((k) * 32)
STORES(local_8, OWN(8), 8, WORD)
STORES(local_16, OWN(16), 16, WORD)
STORES(local_32, OWN(32), 32, WORD)
STORES(local_64, OWN(64), 64, WORD)
STORES(global_8, COMMON(8), 8, ROW)
STORES(global_16, COMMON(16), 16, ROW)
STORES(global_64, COMMON(64), 64, ROW)
