//! kernel barrierCount
//! title  A barrier for 64 threads that 32 threads reach
//! grid   = 1
//! block  = 64
//! buffer out: s32[64] = fill(0)
//! arg    0 = out
//! expect finish == deadlock
extern "C" __global__ void barrierCount(int* out) {
  int i = threadIdx.x;
  if (i < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  out[i] = i;
}
