//! kernel barrierObjects
//! title  Barrier objects: arrivals, counts, copies that arrive
//! grid   = 1
//! block  = 64
//! buffer out: s32[256] = fill(-1)
//! buffer in: s32[64] = i * i for i
//! arg    0 = out
//! arg    1 = in
//! arg    2 = 2
//! expect out[i] == 63 - i for i in 0..64
//! expect out[i] == 32 for i in 64..128
//! expect out[i] == in[191 - i] for i in 128..192
//! expect out[i] == in[i - 192] + 1 for i in 192..256
__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void init(unsigned long long* bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}

__device__ unsigned long long arrive(unsigned long long* bar) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(bar)) : "memory");
  return state;
}

__device__ void wait(unsigned long long* bar, unsigned long long state) {
  unsigned done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at(bar)), "l"(state)
                 : "memory");
  } while (!done);
}

__device__ void copy(int* to, const int* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(to)), "l"(from) : "memory");
}

extern "C" __global__ void barrierObjects(int* out, const int* in, int twice) {
  __shared__ unsigned long long bar[4];
  __shared__ int values[64], tile[64], others[64], odd;
  int t = threadIdx.x;
  if (t == 0) {
    odd = 0;
    init(&bar[0], 64);
    init(&bar[1], 64 * twice + 32);
    init(&bar[2], 64);
    init(&bar[3], 64);
  }
  __syncthreads();
  values[t] = t;
  wait(&bar[0], arrive(&bar[0]));
  out[t] = values[63 - t];

  // Each thread arrives `twice` times without an end of the phase, half of them leave the object.
  unsigned long long state;
  unsigned left, sum;
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(at(&bar[1])), "r"(twice)
               : "memory");
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(state));
  atomicAdd(&odd, left & 1);
  __syncthreads();
  if (t < 32) {
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(at(&bar[1]))
                 : "memory");
  }
  __syncthreads();
  // The next phase expects 32 arrivals less: one warp finds up to 128 pending, the other up to 96.
  state = arrive(&bar[1]);
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(state));
  sum = __reduce_max_sync(0xffffffff, left);
  out[64 + t] = sum - (sum == 128 ? 96 : 64) + odd;

  copy(&tile[t], in + t);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(&bar[2])) : "memory");
  unsigned done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at(&bar[2]))
                 : "memory");
  } while (!done);
  out[128 + t] = tile[63 - t];

  copy(&others[t], in + t);
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at(&bar[3])) : "memory");
  wait(&bar[3], arrive(&bar[3]));
  out[192 + t] = others[t] + 1;
}
