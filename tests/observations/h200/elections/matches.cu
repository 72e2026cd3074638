// MATCH of one to 32 distinct values by all lanes, each needing the one before. t[2 * warp] gets the
// cycles of 64.
//
//! const block = 32
//! const values = 1
//! const rounds = 16
//! grid   = 1
//! block  = block
//! buffer t: u32[64] = fill(0)
//! arg    0 = t
//! arg    1 = t
//! arg    2 = values
//! arg    3 = rounds

typedef unsigned u;
typedef unsigned long long u64;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
#define KERNEL(name, T, match)                                                         \
    extern "C" __global__ void name(u *t, u *m, u values, u rounds) {                  \
        u begun, ended, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;              \
        u none = values >> 30, x = 0;                                                  \
        int p = 0;                                                                     \
        T v = lane % values;                                                           \
        __syncthreads();                                                               \
        CLOCK(begun)                                                                   \
        _Pragma("unroll 1") for (u k = 0; k < rounds; k++) {                           \
            _Pragma("unroll") for (u j = 0; j < 4; j++) {                              \
                x = match;                                                             \
                v += (T)(x & none);                                                    \
            }                                                                          \
        }                                                                              \
        if (x >> 31 && p > 1) m[63] = x;                                               \
        CLOCK(ended)                                                                   \
        if (lane == 0) t[2 * warp] = ended - begun;                                    \
        if (x == 77777) t[1] = p;                                                      \
    }
KERNEL(any, u, __match_any_sync(~0u, v))
KERNEL(all, u, __match_all_sync(~0u, v, &p))
KERNEL(any64, u64, __match_any_sync(~0u, v))
KERNEL(all64, u64, __match_all_sync(~0u, v, &p))
