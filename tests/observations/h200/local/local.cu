// Loads and stores of local memory. Each kernel leaves the cycles of each warp in t[2 * warp].
// local.csv has the mean of the block's warps on an H200 (driver 580.159.04), the median of seven
// launches. Word w of a thread's local memory is in line w of its warp.
//
//! grid   = 1
//! block  = 32
//! buffer t: s32[2112] = fill(0)
//! arg    0 = t

// The clock once x is known.
__device__ __forceinline__ int clock_after(int &x) {
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(x) :: "memory");
    return now;
}
#define LDL(v, a) asm volatile("ld.local.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory")
#define STL(a, v) asm volatile("st.local.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory")

// A chain of 64 loads of `32 >> ls` lines, each followed by a store to `32 >> ss` lines by the lanes
// of `mask`, `far` lines further. All words are zero. The second round counts.
#define CHAIN(name, ls, ss, far, mask) extern "C" __global__ void name(int *t) { \
    int words[64]; unsigned lane = threadIdx.x & 31, w = threadIdx.x / 32; \
    unsigned base = (unsigned)(size_t)__cvta_generic_to_local(words); \
    for (int j = 0; j < 64; j++) STL(base + 4 * j, 0); \
    unsigned from = base + (lane >> ls) * 4, to = base + (lane >> ss) * 4 + far * 4; \
    int x = 0, a = 0, b = 0; \
    _Pragma("unroll 1") for (int round = 0; round < 2; round++) { \
        __syncthreads(); a = clock_after(x); \
        _Pragma("unroll 4") for (int k = 0; k < 64; k++) { \
            LDL(x, from + x); \
            if ((unsigned)(mask) >> lane & 1) STL(to + x, 0); } \
        b = clock_after(x); } \
    if (lane == 0) t[2 * w] = b - a; \
    if (x == 77777) t[0] = x; }
CHAIN(load_1, 5, 5, 0, 0)
CHAIN(load_8, 2, 5, 0, 0)
CHAIN(load_16, 1, 5, 0, 0)
CHAIN(load_32, 0, 5, 0, 0)
CHAIN(apart_1, 5, 5, 32, 0xaaaaaaaau)
CHAIN(apart_4, 3, 3, 32, 0xaaaaaaaau)
CHAIN(apart_8, 3, 2, 32, 0xaaaaaaaau)
CHAIN(apart_16, 3, 1, 32, 0xaaaaaaaau)
CHAIN(whole_1, 5, 5, 0, 0xffffffffu)
CHAIN(whole_4, 3, 3, 0, 0xffffffffu)
CHAIN(parts_1, 5, 5, 0, 0xaaaaaaaau)
CHAIN(parts_4, 3, 3, 0, 0xaaaaaaaau)
CHAIN(parts_8, 3, 2, 0, 0xaaaaaaaau)
CHAIN(parts_16, 3, 1, 0, 0xaaaaaaaau)

// Each thread sorts sixteen words by insertion: warps delay each other.
extern "C" __global__ void sort(int *t) {
    int words[16]; unsigned lane = threadIdx.x & 31, w = threadIdx.x / 32, s = threadIdx.x + 1;
    for (int j = 0; j < 16; j++) { s = s * 1664525u + 1013904223u; words[j] = (s ^ s >> 15) >> 8; }
    int x = words[0];
    __syncthreads(); int a = clock_after(x); words[0] = x;
    #pragma unroll 1
    for (int j = 1; j < 16; j++) {
        int v = words[j], p = j - 1;
        #pragma unroll 1
        while (p >= 0 && words[p] > v) { words[p + 1] = words[p]; p--; }
        words[p + 1] = v;
    }
    x = words[lane & 15];
    int b = clock_after(x);
    if (lane == 0) t[2 * w] = b - a;
    if (x == 77777) t[0] = x;
}
