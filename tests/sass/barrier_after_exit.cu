//! kernel afterExit
//! title  A barrier after threads of the block have exited
//! grid   = 1
//! block  = 64
//! buffer out: s32[64] = fill(0)
//! arg    0 = out
//! expect finish == ok
extern "C" __global__ void afterExit(int* out) {
  __shared__ int sums[64];
  int i = threadIdx.x;
  sums[i] = i;
  if (i < 40) {
    __syncthreads();
    out[i] = sums[63 - i];
    __syncthreads();
    out[i] += sums[(i + 7) % 64];
  }
}
