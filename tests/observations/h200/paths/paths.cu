// Paths of a machine: to constants, to the targets of jumps, and of stores to L2. Each kernel leaves
// the cycles of each warp in t[2 * warp]. one.csv and all.csv have the mean of the warps on one SM and
// on all 132 of an H200 (driver 580.159.04), the median of seven launches after 256 MB were written.
//
//! grid   = 1
//! block  = 32
//! buffer t: s32[2112] = fill(0)
//! buffer u: s32[541696] = fill(0)
//! arg    0 = t
//! arg    1 = u
//! arg    2 = 0

typedef int (*F)(int, int);
__constant__ int data[4096];
__device__ __noinline__ int f0(int x, int y) { return x * 3 + y; }
__device__ __noinline__ int f1(int x, int y) { return x * 5 - y; }
__device__ F functions[2] = {f0, f1};

// The clock once x is known.
__device__ __forceinline__ int clock_after(int &x) {
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(x) :: "memory");
    return now;
}
__device__ __forceinline__ void leave(int *t, int *u, int from, int to, int x) {
    if (threadIdx.x % 32 == 0) t[(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 2] = to - from;
    if (x == 77777) u[0] = x;
}
#define LOAD(at) asm volatile("ld.const.u32 %0, [data+" #at "];" : "=r"(v)); \
    asm volatile("add.s32 %0, %0, %1;" : "+r"(sum) : "r"(v)); b = clock_after(sum);
#define CONSTANTS(name, loads) extern "C" __global__ void name(int *t, int *u, int zero) { \
    int v, b, sum = zero, a = clock_after(sum); loads leave(t, u, a, b, sum); }
CONSTANTS(c_one, LOAD(0))
CONSTANTS(c_block, LOAD(0) LOAD(64) LOAD(128) LOAD(192))
CONSTANTS(c_back, LOAD(1024) LOAD(960) LOAD(896) LOAD(768))
CONSTANTS(c_blocks, LOAD(0) LOAD(256) LOAD(512) LOAD(768))
CONSTANTS(c_line, LOAD(0) LOAD(4) LOAD(32) LOAD(60))

extern "C" __global__ void j_direct(int *t, int *u, int zero) {
    int n = zero + 64, x = n, a = clock_after(x);
    #pragma unroll 1
    for (int k = 0; k < n; k++) x = f0(x, k);
    int b = clock_after(x);
    leave(t, u, a, b, x);
}
extern "C" __global__ void j_register(int *t, int *u, int zero) {
    int n = zero + 64, x = n;
    F f = functions[zero + 1];
    int a = clock_after(x);
    #pragma unroll 1
    for (int k = 0; k < n; k++) x = f(x, k);
    int b = clock_after(x);
    leave(t, u, a, b, x);
}
#define SWITCH(name, start) extern "C" __global__ void name(int *t, int *u, int which) { \
    int n = which + 64, x = n, a = clock_after(x); which += start; \
    _Pragma("unroll 1") for (int k = 0; k < n; k++) { \
        switch (which) { \
        case 0: x = x * 3 + k; break; case 1: x = x ^ (k >> 3); break; \
        case 2: x = __popc(x) + k; break; case 3: x = (x | k) - 5; break; \
        case 4: x = __brev(x) ^ k; break; case 5: x = x - k * 7; break; \
        case 6: x = (x & k) + 11; break; default: x = __clz(x) * k; break; } \
        asm volatile("" : "+r"(which)); } \
    int b = clock_after(x); leave(t, u, a, b, x); }
SWITCH(j_switch_0, 0)
SWITCH(j_switch_3, 3)

// Stores by some lanes, one line a store: to local memory, and to global memory.
#define STORES(name, mask, array, at) extern "C" __global__ void name(int *t, int *u, int zero) { \
    unsigned lane = threadIdx.x & 31, w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; array; \
    for (int j = 0; j < 16; j++) a[at(j)] = j + 1; \
    __syncthreads(); int c0 = clock_after(zero), c1; \
    if (mask >> lane & 1) { \
        _Pragma("unroll 4") for (int k = 0; k < 256; k++) a[at((k + w) & 15)] = k; \
        c1 = clock_after(zero); t[w * 2] = c1 - c0; } }
#define OWN volatile int a[16]
#define COMMON volatile int *a = u + 1024 + w * 512 + lane
#define WORD(k) (k)
#define ROW(k) ((k) * 32)
STORES(l_line, 0xffffffffu, OWN, WORD)
STORES(l_half, 0x0000ffffu, OWN, WORD)
STORES(l_sector, 0x000000ffu, OWN, WORD)
STORES(l_word, 0x00000001u, OWN, WORD)
STORES(l_two, 0x80000001u, OWN, WORD)
STORES(l_parts, 0x55555555u, OWN, WORD)
STORES(g_line, 0xffffffffu, COMMON, ROW)
STORES(g_half, 0x0000ffffu, COMMON, ROW)
STORES(g_word, 0x00000001u, COMMON, ROW)
STORES(g_two, 0x80000001u, COMMON, ROW)
STORES(g_parts, 0x55555555u, COMMON, ROW)
