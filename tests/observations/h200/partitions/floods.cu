// Accesses of one SM while others flood a word. floods.csv has their cycles on an H200 (driver
// 580.159.04), the median of 32: what the others do, what the SM does, how many others there are,
// and the bytes from the flooded word. Blocks of 32 threads.

typedef unsigned u;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
struct Nothing { static __device__ u go(u*) { return 0; } };
// 32 lanes on one word.
struct FloodRed { static __device__ u go(u* p) {
  asm volatile("red.global.add.u32 [%0], 0;" ::"l"(p) : "memory"); return 0; } };
struct FloodCas { static __device__ u go(u* p) { return threadIdx.x ? 0 : atomicCAS(p, 5, 6); } };
struct FloodStore { static __device__ u go(u* p) {
  if (!threadIdx.x) *(volatile u*)p = 0; return 0; } };
struct Load { static __device__ u go(u* p) { return *(volatile u*)p; } };
struct Add { static __device__ u go(u* p) { return atomicAdd(p, 0); } };
struct Cas { static __device__ u go(u* p) { return atomicCAS(p, 5, 6); } };
struct Fence { static __device__ u go(u* p) { *(volatile u*)p = 0; __threadfence(); return 0; } };

template <class Flood, class Access> __global__ void floods(u* t, u* m, u words) {
  u begun, now, q = 0;
  CLOCK(begun)
  if (blockIdx.x) {
    do { q = Flood::go(m); CLOCK(now) } while (now - begun + (q >> 31) < 150000);
    return;
  }
  if (threadIdx.x) return;
  do { CLOCK(now) } while (now - begun < 20000);
  u* p = m + words;
  Access::go(p);
  for (u k = 0; k < 32; k++) {
    CLOCK(begun) q = Access::go(p) >> 31;
    if (q == 1) *(volatile u*)(t + 100) = 1;
    CLOCK(now) t[k] = now - begun;
  }
}
