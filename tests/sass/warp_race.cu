//! kernel warpRace
//! title  Neighbours exchange through shared memory without __syncwarp()
//! grid   = 1
//! block  = 32
//! buffer out: s32[32] = fill(0)
//! arg    0 = out
extern "C" __global__ void warpRace(int* out) {
  __shared__ volatile int sums[32];
  int i = threadIdx.x;
  sums[i] = i;
  out[i] = sums[i ^ 1];
}
