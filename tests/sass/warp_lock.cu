//! kernel warpLock
//! title  A lock that the lanes of a warp take one after another, without leaving the loop
//! grid   = 1
//! block  = 32
//! buffer lock: u32[1] = fill(0)
//! buffer out: u32[1] = fill(0)
//! arg    0 = lock
//! arg    1 = out
//! expect finish == livelock
extern "C" __global__ void warpLock(unsigned* lock, volatile unsigned* out) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __syncwarp();
  *out = *out + 1;
  atomicExch(lock, 0);
}
