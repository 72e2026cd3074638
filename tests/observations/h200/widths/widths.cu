// Loads and stores of shared and global memory by width, each needing the one before (`_chain`),
// or eight in a row twice (`_row`) or eight times (`_long`); those of `stg_join` write neighboring
// words of the same lines. Lane l of `active` takes the place (l & r) * s + (l >> q) * u of an
// array of elements of the width. Each kernel leaves the cycles of each warp in t[2 * warp].
//
// widths.csv has the mean cycles of the block's warps in the last of three rounds on an H200
// (driver 580.159.04), the median of five launches.
//
//! const  active = 32
//! const  r = 31
//! const  s = 1
//! const  q = 5
//! const  u = 0
//! grid   = 1
//! block  = 32
//! buffer t: s32[64] = fill(0)
//! buffer far: s32[8192] = fill(0)
//! arg    0 = t
//! arg    1 = far
//! arg    2 = active
//! arg    3 = r
//! arg    4 = s
//! arg    5 = q
//! arg    6 = u

// The clock once x is known.
__device__ __forceinline__ int clock_after(int &x) {
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(x) :: "memory");
    return now;
}
#define LOAD4(space, v, a) \
    asm volatile("ld." space ".u32 %0, [%1];" : "=r"(v) : A(a) : "memory")
#define LOAD8(space, v, a) \
    asm volatile("{ .reg .u32 y; ld." space ".v2.u32 {%0, y}, [%1]; or.b32 %0, %0, y; }" \
                 : "=r"(v) : A(a) : "memory")
#define LOAD16(space, v, a) \
    asm volatile("{ .reg .u32 y, z, w; ld." space ".v4.u32 {%0, y, z, w}, [%1]; " \
                 "or.b32 %0, %0, y; or.b32 z, z, w; or.b32 %0, %0, z; }" \
                 : "=r"(v) : A(a) : "memory")
#define STORE4(space, v, a) \
    asm volatile("st." space ".u32 [%1], %0;" :: "r"(v), A(a) : "memory")
#define STORE8(space, v, a) \
    asm volatile("st." space ".v2.u32 [%1], {%0, %0};" :: "r"(v), A(a) : "memory")
#define STORE16(space, v, a) \
    asm volatile("st." space ".v4.u32 [%1], {%0, %0, %0, %0};" \
                 :: "r"(v), A(a) : "memory")

#define KERNEL(name, width, near, LOADS, ONE, rows, chain) \
    extern "C" __global__ void name(int *t, int *far, int active, int r, int s, int q, int u) { \
        __shared__ __align__(16) int words[near ? 8192 : 4]; \
        int l = threadIdx.x & 31, w = threadIdx.x / 32, a = 0, b = 0, x = 0; \
        if (near) for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0; \
        int place = ((l & r) * s + (l >> q) * u) * width; \
        unsigned n = (unsigned)__cvta_generic_to_shared(words) + place; \
        char *f = (char *)far + place; \
        __syncthreads(); \
        if (l < active) { \
            _Pragma("unroll 1") for (int round = 0; round < 3; round++) { \
                __syncwarp(__activemask()); a = clock_after(x); \
                _Pragma("unroll 1") for (int k = 0; k < rows; k++) { \
                    int v[8] = {}; \
                    _Pragma("unroll") for (int j = 0; j < 8; j++) { ONE; if (chain) x = v[j]; } \
                    if (LOADS && !chain) \
                        x += v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]; \
                } \
                b = clock_after(x); \
            } \
        } \
        if (l == 0) t[2 * w] = b - a; \
        if (x == 77777) t[1] = x; \
    }
#define A "r"
KERNEL(lds4_chain, 4, 1, 1, LOAD4("shared", v[j], n + x), 2, true)
KERNEL(lds8_chain, 8, 1, 1, LOAD8("shared", v[j], n + x), 2, true)
KERNEL(lds16_chain, 16, 1, 1, LOAD16("shared", v[j], n + x), 2, true)
KERNEL(lds4_row, 4, 1, 1, LOAD4("shared", v[j], n + x + j * 2048), 2, false)
KERNEL(lds8_row, 8, 1, 1, LOAD8("shared", v[j], n + x + j * 2048), 2, false)
KERNEL(lds16_row, 16, 1, 1, LOAD16("shared", v[j], n + x + j * 2048), 2, false)
KERNEL(sts4_row, 4, 1, 0, STORE4("shared", x, n + j * 2048), 2, false)
KERNEL(sts8_row, 8, 1, 0, STORE8("shared", x, n + j * 2048), 2, false)
KERNEL(sts16_row, 16, 1, 0, STORE16("shared", x, n + j * 2048), 2, false)
#undef A
#define A "l"
KERNEL(ldg4_chain, 4, 0, 1, LOAD4("global", v[j], f + x), 2, true)
KERNEL(ldg8_chain, 8, 0, 1, LOAD8("global", v[j], f + x), 2, true)
KERNEL(ldg16_chain, 16, 0, 1, LOAD16("global", v[j], f + x), 2, true)
KERNEL(ldg4_row, 4, 0, 1, LOAD4("global", v[j], f + x + j * 2048), 2, false)
KERNEL(ldg8_row, 8, 0, 1, LOAD8("global", v[j], f + x + j * 2048), 2, false)
KERNEL(ldg16_row, 16, 0, 1, LOAD16("global", v[j], f + x + j * 2048), 2, false)
KERNEL(stg_join_row, 4, 0, 0, STORE4("global", x, f + j * 4), 2, false)
KERNEL(stg_join_long, 4, 0, 0, STORE4("global", x, f + j * 4), 8, false)
#undef A
