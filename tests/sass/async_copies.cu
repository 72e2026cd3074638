//! kernel asyncCopies
//! title  Asynchronous copies: sizes, zeros, groups, a lane that copies nothing
//! grid   = 2
//! block  = 64
//! buffer out: s32[512] = fill(-1)
//! buffer in: s32[1024] = i + 1 for i
//! arg    0 = out
//! arg    1 = in
//! arg    2 = 4
//! expect out[i] == in[512 * (i / 256) + 4 * (i % 64) + 1] for i in 0..64
//! expect out[i] == (i % 4 == 0 ? in[(i - 64) / 4] : 0) for i in 64..128
//! expect out[i] == (i % 64 > 3 ? 0 : in[i - 128]) for i in 128..192
//! expect out[i] == (i % 2 == 1 ? in[i - 192] : 7) for i in 192..256
//! expect out[i] == in[512 + 4 * (i % 64) + 1] for i in 256..320
#include <cuda_pipeline.h>

__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void asyncCopies(int* out, const int* in, int bytes) {
  __shared__ int4 wide[64];
  __shared__ int4 part[16];
  __shared__ int few[64], late[64];
  int t = threadIdx.x;
  in += 512 * blockIdx.x;
  out += 256 * blockIdx.x;
  late[t] = 7;
  __pipeline_memcpy_async(&wide[t], in + 4 * t, 16);
  // The first `bytes` of each 16; the others become 0.
  if (t < 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(&part[t])),
                 "l"(in + 4 * t), "r"(bytes)
                 : "memory");
  }
  // Zeros instead of the source, which lanes from 4 on may not read.
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %2, 3;\n"
               "cp.async.ca.shared.global [%0], [%1], 4, p; }" ::"r"(at(&few[t])),
               "l"(in + (t > 3 ? 1 << 20 : t)), "r"(t)
               : "memory");
  __pipeline_commit();
  if (t % 2 == 1) {
    __pipeline_memcpy_async(&late[t], in + t, 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = wide[t].y;
  out[64 + t] = reinterpret_cast<int*>(part)[t] - (t % 4 == 0 ? 3 * (t / 4) : 0);
  out[128 + t] = few[t];
  __pipeline_wait_prior(0);
  out[192 + t] = late[t];
}
