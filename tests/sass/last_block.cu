//! kernel lastBlock
//! title  The block with the last ticket adds up all parts and resets the counter plainly
//! grid   = 6
//! block  = 64
//! buffer parts: u32[6] = fill(0)
//! buffer out: u32[2] = fill(0)
//! arg    0 = parts
//! arg    1 = out
//! expect out[0] == 21
//! expect out[1] == 0
extern "C" __global__ void lastBlock(volatile unsigned* parts, unsigned* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicAdd(out + 1, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 40) {
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += parts[i];
    out[0] = sum;
    out[1] = 0;
  }
}
