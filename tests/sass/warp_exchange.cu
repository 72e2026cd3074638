//! kernel warpExchange
//! title  Lanes of a warp reverse their values and sum them, ordered by __syncwarp()
//! grid   = 1
//! block  = 64
//! buffer out: s32[64] = fill(0)
//! arg    0 = out
//! expect out[i] == (i ^ 31) + (i ^ 30) for i in 0..64
extern "C" __global__ void warpExchange(int* out) {
  __shared__ int values[64];
  int i = threadIdx.x;
  values[i] = i;
  __syncwarp();
  int mirrored = values[i ^ 31];
  __syncwarp();
  values[i] = mirrored;
  __syncwarp();
  out[i] = values[i] + values[i ^ 1];
}
