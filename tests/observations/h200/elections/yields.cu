// Loops with a YIELD by some lanes of each warp. The others wait at a WARPSYNC.ALL: each YIELD lets
// them execute it again, in vain. t[2 * warp] gets the cycles of all rounds.
//
//! const block = 32
//! const lanes = 1
//! const rounds = 64
//! grid   = 1
//! block  = block
//! buffer t: u32[64] = fill(0)
//! arg    0 = t
//! arg    1 = t
//! arg    2 = lanes
//! arg    3 = rounds

typedef unsigned u;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
#define KERNEL(name, value)                                                          \
    extern "C" __global__ void name(u *t, u *m, u lanes, u rounds) {                 \
        __shared__ u s[64];                                                          \
        u begun, ended, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;            \
        if (threadIdx.x < 64) s[threadIdx.x] = 0;                                    \
        __syncthreads();                                                             \
        CLOCK(begun)                                                                 \
        if (lane < lanes) {                                                          \
            u i = 0;                                                                 \
            while (value + i < rounds) i++;                                          \
        }                                                                            \
        CLOCK(ended)                                                                 \
        if (lane == 0) t[2 * warp] = ended - begun;                                  \
        __syncthreads();                                                             \
        if (s[1] == 77777) t[1] = s[0];                                              \
    }
KERNEL(load, ((volatile u *)s)[2])
KERNEL(load_own, ((volatile u *)s)[warp + 8])
KERNEL(cas, atomicCAS(s + 2, 1, 1))
KERNEL(cas_own, atomicCAS(s + 8 + warp, 1, 1))
KERNEL(add_own, atomicAdd(s + 8 + warp, 0))
