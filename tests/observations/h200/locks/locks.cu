// Warps of a block that share words of shared memory. locks.csv has the cycles of 16 rounds on an
// H200 (driver 580.159.04), the mean of the warps and the median of seven launches: a launch is the
// kernel and the lanes of each warp that take part.
//
//! const block = 32
//! const lanes = 1
//! const rounds = 16
//! grid   = 1
//! block  = block
//! buffer t: u32[64] = fill(0)
//! arg    0 = t
//! arg    1 = t
//! arg    2 = lanes
//! arg    3 = rounds

typedef unsigned u;
typedef volatile unsigned word;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
#define KERNEL(name, ...)                                                                        \
  extern "C" __global__ void name(u* t, u* m, u lanes, u rounds) {                               \
    __shared__ u s[64];                                                                          \
    u begun, ended, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;                            \
    if (threadIdx.x < 64) s[threadIdx.x] = 0;                                                    \
    __syncthreads();                                                                             \
    CLOCK(begun)                                                                                 \
    _Pragma("unroll 1") for (u k = 0; k < rounds; k++) { __VA_ARGS__ }                           \
    CLOCK(ended)                                                                                 \
    if (lane == 0) t[2 * warp] = ended - begun;                                                  \
    __syncthreads();                                                                             \
    if (s[1] == 77777) t[1] = s[0];                                                              \
  }
#define SOME if (lane < lanes)
KERNEL(slock,
  SOME {
    bool done = false;
    while (!done) if (atomicCAS(s, 0, 1) == 0) {
      ((word*)s)[1] = ((word*)s)[1] + 1;
      __threadfence_block();
      atomicExch(s, 0);
      done = true;
    }
  })
KERNEL(slock_plain,
  SOME {
    bool done = false;
    while (!done) if (atomicCAS(s, 0, 1) == 0) {
      ((word*)s)[1] = ((word*)s)[1] + 1;
      *(word*)s = 0;
      done = true;
    }
  })
KERNEL(sticket,
  SOME {
    u mine = atomicAdd(s, 1);
    bool done = false;
    while (!done) if (((word*)s)[2] == mine) {
      ((word*)s)[1] = ((word*)s)[1] + 1;
      __threadfence_block();
      ((word*)s)[2] = mine + 1;
      done = true;
    }
  })
KERNEL(scount, SOME { u q = atomicAdd(s, 1); if (q >> 31) s[3] = q; })
KERNEL(scas,
  SOME {
    u q = *(word*)s, was;
    do {
      was = q;
      q = atomicCAS(s, was, was + 1);
    } while (q != was);
  })
KERNEL(sexch, SOME { u q = atomicExch(s, lane); if (q >> 31) s[3] = q; })
KERNEL(sfloat, SOME atomicAdd((float*)s, 1.0f);)
KERNEL(sfloat_own, SOME atomicAdd((float*)s + 32 + lane, 1.0f);)
