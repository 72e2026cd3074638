//! kernel unsetShared
//! title  A read of shared memory that nobody wrote
//! grid   = 1
//! block  = 64
//! buffer out: s32[64] = fill(0)
//! arg    0 = out
extern "C" __global__ void unsetShared(int* out) {
  __shared__ int sums[128];
  int i = threadIdx.x;
  sums[i] = i;
  __syncthreads();
  out[i] = sums[i + 8];
}
