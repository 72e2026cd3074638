// Atomics of shared memory, each needing the one before (`_chain`) or eight in a row. Lane l of
// `active` takes the place ((l & r) * s + (l >> q) * u) ^ (l * l * h >> 2 & 255) in an array. Each
// kernel leaves the cycles of each warp in t[2 * warp].
//
// On an H200 (driver 580.159.04): atoms.csv has the mean cycles of the block's warps, the median of
// five launches, and counts.csv what ncu counts of one warp with 32 atomics:
// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom and
// l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.
//
//! const  active = 32
//! const  r = 31
//! const  s = 1
//! const  q = 0
//! const  u = 0
//! const  h = 0
//! grid   = 1
//! block  = 32
//! buffer t: s32[64] = fill(0)
//! arg    0 = t
//! arg    1 = active
//! arg    2 = r
//! arg    3 = s
//! arg    4 = q
//! arg    5 = u
//! arg    6 = h

typedef unsigned long long u64;

// The clock once x is known.
template <typename T> __device__ __forceinline__ int clock_after(T &x) {
    int now, low = (int)x;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(low) :: "memory");
    x = (T)(unsigned)low;
    return now;
}
// Everything is zero and stays so, but for `popc`.
#define ADD "atom.shared.add.u32 %0, [%1], %2;"
#define EXCH "atom.shared.exch.b32 %0, [%1], %2;"
#define CAS "atom.shared.cas.b32 %0, [%1], %2, %2;"
#define RED "red.shared.add.u32 [%1], %2;"
#define POPC "red.shared.add.u32 [%1], 1;"
#define CAST "{ .reg .f32 f, z; mov.b32 z, %2; atom.shared.add.f32 f, [%1], z; mov.b32 %0, f; }"
#define EXCH64 "atom.shared.exch.b64 %0, [%1], %2;"
#define CAS64 "atom.shared.cas.b64 %0, [%1], %2, %2;"
#define CAST64 "atom.shared.add.u64 %0, [%1], %2;"

#define KERNEL(name, T, c, text, loops, chain) \
    extern "C" __global__ void name(int *t, int active, int r, int s, int q, int u, int h) { \
        __shared__ T words[1024]; \
        int l = threadIdx.x & 31, w = threadIdx.x / 32, a = 0, b = 0; \
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0; \
        int place = ((l & r) * s + (l >> q) * u) ^ (l * l * h >> 2 & 255); \
        unsigned at = (unsigned)__cvta_generic_to_shared(words + place); \
        T zero = active > 99, x = 0; \
        __syncthreads(); \
        if (l < active) { \
            _Pragma("unroll 1") for (int round = 0; round < 2; round++) { \
                __syncwarp(__activemask()); a = clock_after(x); \
                _Pragma("unroll 1") for (int k = 0; k < loops; k++) { \
                    T v[8] = {}; \
                    _Pragma("unroll") for (int j = 0; j < 8; j++) { \
                        asm volatile(text : "+" c(v[j]) : "r"(at + (int)x), c(zero) : "memory"); \
                        if (chain) x = v[j]; \
                    } \
                    if (!chain) x += v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]; \
                } \
                b = clock_after(x); \
            } \
        } \
        if (l == 0) t[2 * w] = b - a; \
        if (x == 77777) t[1] = (int)x; \
    }
KERNEL(add_chain, unsigned, "r", ADD, 2, true)
KERNEL(exch_chain, unsigned, "r", EXCH, 2, true)
KERNEL(cas_chain, unsigned, "r", CAS, 2, true)
KERNEL(cast_chain, unsigned, "r", CAST, 2, true)
KERNEL(exch64_chain, u64, "l", EXCH64, 2, true)
KERNEL(cas64_chain, u64, "l", CAS64, 2, true)
KERNEL(cast64_chain, u64, "l", CAST64, 2, true)
KERNEL(add_row, unsigned, "r", ADD, 2, false)
KERNEL(exch_row, unsigned, "r", EXCH, 2, false)
KERNEL(cas_row, unsigned, "r", CAS, 2, false)
KERNEL(cast_row, unsigned, "r", CAST, 2, false)
KERNEL(exch64_row, u64, "l", EXCH64, 2, false)
KERNEL(cas64_row, u64, "l", CAS64, 2, false)
KERNEL(cast64_row, u64, "l", CAST64, 2, false)
KERNEL(red_row, unsigned, "r", RED, 2, false)
KERNEL(popc_row, unsigned, "r", POPC, 2, false)
