//! kernel sharedSize
//! title  Bytes of shared memory, in units of 128, an event for a profiler and its counter
//! grid   = 1
//! block  = 32
//! shared = 40
//! buffer out: u32[4] = fill(7)
//! arg    0 = out
//! expect out[0] == 256
//! expect out[1] == 40
//! expect out[2] == 3
//! expect out[3] == 0
extern "C" __global__ void sharedSize(unsigned* out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[25];
  fixed[threadIdx.x % 25] = 1;
  dynamic[threadIdx.x % 10] = 2;
  __syncthreads();
  __prof_trigger(3);
  unsigned total, bytes, counter;
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  asm volatile("mov.u32 %0, %%pm0;" : "=r"(counter));
  if (threadIdx.x == 0) {
    out[0] = total;
    out[1] = bytes;
    out[2] = fixed[0] + dynamic[0];
    out[3] = counter;
  }
}
