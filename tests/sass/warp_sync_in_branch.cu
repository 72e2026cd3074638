//! kernel warpSyncInBranch
//! title  A full __syncwarp() in a branch that two lanes take, as in Numba's reduction
//! grid   = 1
//! block  = 32
//! buffer out: s32[32] = iota
//! arg    0 = out
//! expect out[0] == 6
extern "C" __global__ void warpSyncInBranch(int* out) {
  __shared__ int sums[32];
  int i = threadIdx.x;
  sums[i] = out[i];
  __syncthreads();
  if (i < 2) {
    sums[i] += sums[i + 2];
    __syncwarp();
  }
  if (i == 0) out[0] = sums[0] + sums[1];
}
