// Accesses to both partitions of L2. On an H200 (driver 580.159.04), homes.csv has what each block
// of `homes` leaves in t (132 blocks), after.csv the cycles that the others leave: a name is the
// kernel and the number of the 4 KB of m. m begins at a multiple of 2 MB; `homes` has 33,555,456
// words of it. All are medians of seven launches; blocks change SMs from launch to launch.
//
//! const blocks = 1
//! const block = 64
//! const piece = 0
//! const words = 4096
//! grid   = blocks
//! block  = block
//! buffer m: u32[words] = fill(0)
//! buffer t: u32[4096] = fill(0)
//! arg    0 = t
//! arg    1 = m
//! arg    2 = piece * 1024

typedef unsigned u;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
// Waits for a value, whose highest bit is never set.
#define AWAIT(q) if ((q) >> 31) *(volatile u*)(t + 4000) = 1;
__device__ __forceinline__ u load(u* p) { return *(volatile u*)p; }
__device__ __forceinline__ u add(u* p) { return atomicAdd(p, 0); }
__device__ __forceinline__ void red(u* p) {
  asm volatile("red.global.add.u32 [%0], 0;" ::"l"(p) : "memory");
}
__device__ __forceinline__ void store(u* p) { *(volatile u*)p = 0; }
__device__ __forceinline__ u cached(u* p) {
  u q;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(q) : "l"(p) : "memory");
  return q;
}

// Each block adds to words 0 and 2^10 .. 2^25 of m.
extern "C" __global__ void homes(u* t, u* m, u piece) {
  if (threadIdx.x) return;
  for (u k = 0; k < 17; k++) {
    u begun, ended, *p = m + (k ? 512u << k : 0);
    for (u r = 0; r < 3; r++) {
      CLOCK(begun) u q = add(p); AWAIT(q) CLOCK(ended)
    }
    t[blockIdx.x * 17 + k] = ended - begun;
  }
}

// The cycles of `SECOND` long after `FIRST` by the same warp and `ELSE` by another one.
#define AFTER(name, FIRST, ELSE, SECOND)                                                         \
  extern "C" __global__ void name(u* t, u* m, u piece) {                                \
    u begun, now, *p = m + piece, warp = threadIdx.x / 32, q = 0;                                \
    bool one = threadIdx.x % 32 == 0;                                                            \
    for (u r = 0; r < 3; r++) {                                                                  \
      __syncthreads();                                                                           \
      __threadfence();                                                                           \
      __syncthreads();                                                                           \
      if (warp == 0 && one) { FIRST; }                                                           \
      if (warp == 1 && one) { ELSE; }                                                            \
      __syncthreads();                                                                           \
      if (warp == 0 && one) {                                                                    \
        AWAIT(q) CLOCK(begun) do { CLOCK(now) } while (now - begun < 1500);                      \
        CLOCK(begun) SECOND; AWAIT(q) CLOCK(now)                                                 \
        t[0] = now - begun;                                                                      \
      }                                                                                          \
    }                                                                                            \
  }
AFTER(fence_none, , , __threadfence())
AFTER(fence_store, store(p), , __threadfence())
AFTER(fence_load, q += load(p), , __threadfence())
AFTER(fence_cached, q += cached(p), , __threadfence())
AFTER(fence_red, red(p), , __threadfence())
AFTER(fence_add, q += add(p), , __threadfence())
AFTER(fence_store_else, , store(p), __threadfence())
AFTER(fence_load_else, , q += load(p), __threadfence())
AFTER(fence_red_else, , red(p), __threadfence())
AFTER(fence_add_else, , q += add(p), __threadfence())
AFTER(load_load, q += load(p), , q += load(p))
AFTER(load_store, store(p), , q += load(p))
AFTER(load_red, red(p), , q += load(p))
AFTER(load_add, q += add(p), , q += load(p))
AFTER(add_load, q += load(p), , q += add(p))
AFTER(add_add, q += add(p), , q += add(p))
