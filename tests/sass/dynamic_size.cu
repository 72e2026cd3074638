//! kernel dynamicSize
//! title  Bytes of dynamic shared memory, as a kernel reads them
//! grid   = 1
//! block  = 32
//! shared = 48
//! buffer out: u32[1] = fill(0)
//! arg    0 = out
//! expect out[0] == 48
extern "C" __global__ void dynamicSize(unsigned* out) {
  unsigned bytes;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  if (threadIdx.x == 0) *out = bytes;
}
