// Blocks on SMs of their own that share words, as in blocks.cu, which no rule was found with.
// later.csv has their cycles.
//
//! const blocks = 2
//! const rounds = 16
//! const apart = 32
//! const block = 32
//! grid   = blocks
//! block  = block
//! buffer t: u32[132] = fill(0)
//! buffer m: u32[131072] = fill(0)
//! arg    0 = t
//! arg    1 = m
//! arg    2 = rounds
//! arg    3 = apart

typedef unsigned u;
#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
typedef volatile unsigned word;
#define KERNEL(name, ...)                                                                        \
  extern "C" __global__ void name(unsigned* t, unsigned* m, unsigned rounds, unsigned apart) {   \
    unsigned begun, ended, b = blockIdx.x, all = gridDim.x;                                      \
    word* far = m + apart;                                                                       \
    CLOCK(begun)                                                                                 \
    _Pragma("unroll 1") for (unsigned k = 0; k < rounds; k++) { __VA_ARGS__ }                    \
    CLOCK(ended)                                                                                 \
    if (threadIdx.x == 0) t[b] = ended - begun + (far[0] == all + 1000000000);                   \
  }
#define FIRST if (threadIdx.x == 0)
// A queue lock: each waiter spins on a word of its own (1 + block).
KERNEL(lock_queue,
  FIRST {
    word* next = far + apart * (2 + 2 * b);
    word* wait = next + 1;
    *next = 0;
    *wait = 1;
    __threadfence();
    u before = atomicExch(m, b + 1);
    if (before) {
      far[apart * (2 + 2 * (before - 1))] = b + 1;
      while (*wait);
    }
    far[1] = far[1] + 1;
    __threadfence();
    if (*next == 0) {
      if (atomicCAS(m, b + 1, 0) == b + 1) continue;
      while (*next == 0);
    }
    far[apart * (2 + 2 * (*next - 1)) + 1] = 0;
  })
// A stack onto which each block pushes its nodes.
KERNEL(push,
  FIRST {
    u node = 1 + b * rounds + k, top;
    do {
      top = *(word*)m;
      far[node] = top;
      __threadfence();
    } while (atomicCAS(m, top, node) != top);
  })
// Two locks, taken in one order.
KERNEL(lock_two,
  FIRST {
    while (atomicCAS(m, 0, 1));
    while (atomicCAS((u*)far, 0, 1));
    far[1] = far[1] + 1;
    __threadfence();
    atomicExch((u*)far, 0);
    atomicExch(m, 0);
  })
// A lock for readers and a writer: every fourth access writes.
KERNEL(lock_shared,
  FIRST {
    if ((k + b) % 4 == 0) {
      while (atomicCAS(m, 0, 0x10000));
      far[0] = far[0] + 1;
      __threadfence();
      atomicSub(m, 0x10000);
    } else {
      while (atomicAdd(m, 1) >= 0x10000) {
        atomicSub(m, 1);
        while (*(word*)m >= 0x10000);
      }
      if (far[0] == 77777) far[1] = 1;
      __threadfence();
      atomicSub(m, 1);
    }
  })
// Items of a list, taken by whoever comes.
KERNEL(take,
  __shared__ u item;
  __syncthreads();
  FIRST item = atomicAdd(m, 1);
  __syncthreads();
  far[item * 32 + threadIdx.x % 32] = item;)
// A barrier in steps: in step s a block tells the one 2^s further.
KERNEL(barrier_steps,
  __syncthreads();
  FIRST {
    __threadfence();
    for (u s = 1; s < all; s *= 2) {
      word* flag = far + ((b + s) % all) * 32 + (31 - __clz(s));
      atomicAdd((u*)flag, 1);
      while (far[b * 32 + (31 - __clz(s))] <= k);
    }
    __threadfence();
  }
  __syncthreads();)
// The last block of each round resets a counter and tells the others.
KERNEL(barrier_last,
  __syncthreads();
  FIRST {
    __threadfence();
    u before = *(word*)(far + 1);
    if (atomicInc(m, all - 1) == all - 1) atomicAdd((u*)far + 1, 1);
    else while (far[1] == before);
    __threadfence();
  }
  __syncthreads();)
// Values for the next block through a ring of eight words.
KERNEL(ring,
  FIRST {
    word* in = far + ((b + all - 1) % all) * apart;
    word* out = far + b * apart;
    for (u i = 0; i < 4; i++) {
      if (b) while (in[i] <= k);
      else if (k) while (in[i] < k);
      __threadfence();
      out[i] = k + 1;
    }
  })
