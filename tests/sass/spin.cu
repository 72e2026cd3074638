//! kernel spinForever
//! title  A wait for a flag that nobody sets
//! grid   = 1
//! block  = 32
//! buffer flag: u32[1] = fill(0)
//! buffer out: u32[32] = fill(0)
//! arg    0 = flag
//! arg    1 = out
//! expect finish == livelock
extern "C" __global__ void spinForever(volatile unsigned* flag, unsigned* out) {
  while (*flag == 0) {
  }
  out[threadIdx.x] = 1;
}
