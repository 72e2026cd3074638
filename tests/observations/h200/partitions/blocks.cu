// Blocks on SMs of their own that share words. blocks.csv has their cycles on an H200 (driver
// 580.159.04): the mean of the blocks, the median of seven launches. A name is the kernel, the
// blocks and the rounds.
//
//! const blocks = 2
//! const rounds = 16
//! const apart = 32
//! const block = 32
//! grid   = blocks
//! block  = block
//! buffer t: u32[132] = fill(0)
//! buffer m: u32[65536] = fill(0)
//! arg    0 = t
//! arg    1 = m
//! arg    2 = rounds
//! arg    3 = apart

#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
typedef volatile unsigned word;
#define KERNEL(name, ...)                                                                        \
  extern "C" __global__ void name(unsigned* t, unsigned* m, unsigned rounds, unsigned apart) {   \
    unsigned begun, ended, b = blockIdx.x, all = gridDim.x;                                      \
    word* far = m + apart;                                                                       \
    CLOCK(begun)                                                                                 \
    _Pragma("unroll 1") for (unsigned k = 0; k < rounds; k++) { __VA_ARGS__ }                    \
    CLOCK(ended)                                                                                 \
    if (threadIdx.x == 0) t[b] = ended - begun;                                                  \
  }
#define FIRST if (threadIdx.x == 0)
#define ADD atomicAdd(m, 1)

KERNEL(lock_cas,
  FIRST {
    while (atomicCAS(m, 0, 1));
    *far = *far + 1;
    __threadfence();
    atomicExch(m, 0);
  })
KERNEL(lock_test,
  FIRST {
    do {
      while (*(word*)m);
    } while (atomicCAS(m, 0, 1));
    *far = *far + 1;
    __threadfence();
    atomicExch(m, 0);
  })
KERNEL(lock_exch,
  FIRST {
    while (atomicExch(m, 1));
    *far = *far + 1;
    __threadfence();
    *(word*)m = 0;
  })
KERNEL(lock_sleep,
  FIRST {
    while (atomicCAS(m, 0, 1)) __nanosleep(200);
    *far = *far + 1;
    __threadfence();
    atomicExch(m, 0);
  })
KERNEL(lock_ticket,
  FIRST {
    unsigned mine = ADD;
    while (far[0] != mine);
    far[apart] = far[apart] + 1;
    __threadfence();
    far[0] = mine + 1;
  })
KERNEL(count_add, FIRST { unsigned q = ADD; if (q == 0xffffffff) m[1] = q; })
KERNEL(count_chain, FIRST { unsigned q = ADD; m = m + (q >> 31); })
KERNEL(count_cas,
  FIRST {
    unsigned q = *(word*)m, was;
    do {
      was = q;
      q = atomicCAS(m, was, was + 1);
    } while (q != was);
  })
KERNEL(count_red, FIRST { asm volatile("red.global.add.u32 [%0], 1;" ::"l"(m) : "memory"); })
KERNEL(read_same, FIRST { unsigned q = *(word*)m; m = m + (q >> 31); })
KERNEL(barrier_grid,
  __syncthreads();
  FIRST {
    __threadfence();
    ADD;
    while (*(word*)m < (k + 1) * all);
    __threadfence();
  }
  __syncthreads();)
KERNEL(barrier_far,
  __syncthreads();
  FIRST {
    __threadfence();
    if (ADD == (k + 1) * all - 1) far[0] = k + 1;
    else while (far[0] <= k);
    __threadfence();
  }
  __syncthreads();)
KERNEL(chain,
  FIRST {
    word* before = far + (b ? b - 1 : all - 1) * apart;
    while (*before < (b ? k + 1 : k));
    __threadfence();
    far[b * apart] = k + 1;
  })
KERNEL(chain_acquire,
  FIRST {
    unsigned* before = m + (1 + (b ? b - 1 : all - 1)) * apart;
    unsigned q;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(q) : "l"(before) : "memory");
    while (q < (b ? k + 1 : k));
    unsigned* mine = m + (1 + b) * apart;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(mine), "r"(k + 1) : "memory");
  })
KERNEL(broadcast,
  FIRST {
    if (b == 0) {
      far[0] = k + 1;
      while (*(word*)m < (k + 1) * (all - 1));
    } else {
      while (far[0] <= k);
      ADD;
    }
  })
KERNEL(flags,
  FIRST {
    if (b == 0) {
      for (unsigned i = 1; i < all; i++) while (far[i * apart] <= k);
      far[0] = k + 1;
    } else {
      far[b * apart] = k + 1;
      while (far[0] <= k);
    }
  })
KERNEL(store_fence, FIRST { far[b * apart] = k; __threadfence(); })
