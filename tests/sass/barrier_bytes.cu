//! kernel barrierBytes
//! title  Barrier objects of sm_90: expected bytes, a generic address, the end of a life
//! grid   = 1
//! block  = 64
//! shared = 16
//! buffer out: s32[192] = fill(-1)
//! arg    0 = out
//! arg    1 = 128
//! expect out[i] == 100 + i for i in 0..64
//! expect out[i] == (i == 64 ? 12 : 0) for i in 64..128
//! expect out[i] == 1 for i in 128..192
__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void barrierBytes(int* out, int bytes) {
  extern __shared__ unsigned long long bar[];
  __shared__ int value;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(at(&bar[0])) : "memory");
    asm volatile("mbarrier.init.b64 [%0], %1;" ::"l"(&bar[1]), "r"(bytes) : "memory");
  }
  __syncthreads();
  unsigned long long state;
  int steps = 0;
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(at(bar)), "r"(bytes)
                 : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 64;" ::"r"(at(bar)) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(bar)) : "memory");
    // Both arrivals are here; 192 bytes are not.
    unsigned done = 0;
    for (; !done && steps < 12; steps++) {
      value = 100;
      asm volatile("mbarrier.complete_tx.shared.b64 [%0], 16;" ::"r"(at(bar)) : "memory");
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
                   "selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(at(bar)), "l"(state)
                   : "memory");
    }
    steps = done ? steps : -steps;
  }
  unsigned done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0, 100;\n"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at(bar))
                 : "memory");
  } while (!done);
  out[t] = value + t;
  out[64 + t] = steps;
  asm volatile("mbarrier.arrive.b64 _, [%0], %1;" ::"l"(&bar[1]), "r"(bytes / 64) : "memory");
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "l"(&bar[1])
                 : "memory");
  } while (!done);
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at(bar)) : "memory");
  }
  out[128 + t] = done;
}
