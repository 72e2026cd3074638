// Two SMs write their words in turn. hops.csv has the cycles of both writes on an H200 (driver
// 580.159.04), the mean of twenty after four, for SM 0 and each of 1, 2, 3, 4, 5, 8, 16, 17, 32,
// 33, 64, 65, 100, 130 and 131: how they write, whether both have one partition, and whether x,
// which SM 0 writes, and y, the other's, have their homes near SM 0 or far. 132 blocks of 32
// threads.

typedef unsigned u;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
#define HOPS(name, WRITE)                                                                        \
  extern "C" __global__ void name(u* t, u* x, u* y, int other) {                                 \
    u sm, begun, ended;                                                                          \
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));                                              \
    if (threadIdx.x || (sm != 0 && sm != other)) return;                                         \
    bool first = sm == 0;                                                                        \
    u *mine = first ? x : y, *its = first ? y : x;                                               \
    for (u k = 1; k <= 24; k++) {                                                                \
      if (k == 5) CLOCK(begun)                                                                   \
      if (!first) while (*(volatile u*)its < k);                                                 \
      WRITE;                                                                                     \
      if (first) while (*(volatile u*)its < k);                                                  \
    }                                                                                            \
    CLOCK(ended)                                                                                 \
    if (first) t[0] = (ended - begun) / 20;                                                      \
  }
HOPS(store, *(volatile u*)mine = k)
HOPS(red, asm volatile("red.global.add.u32 [%0], 1;" ::"l"(mine) : "memory"))
HOPS(exch, atomicExch(mine, k))
