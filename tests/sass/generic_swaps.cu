//! kernel genericSwaps
//! title  Exchanges of 64 bits through generic addresses of global, shared and local memory
//! const  n = 32
//! grid   = 1
//! block  = n
//! buffer out: u64[3 * n] = fill(0)
//! buffer last: u64[2] = fill(0)
//! arg    0 = out
//! arg    1 = last
//! expect out[i] == (i % 3 == 0 || i < 3 ? 0 : i - 2) for i in 0..n
//! expect out[n + i] == (i % 3 == 0 || i < 3 ? 0 : i - 2) for i in 0..n
//! expect out[2 * n + i] == (i % 3 == 0 ? i + 1 : 0) for i in 0..n
//! expect last[0] == 30
//! expect last[1] == 30
typedef unsigned long long u64;

// Lanes of a third each swap in one word of shared and of global memory, the others in their own.
extern "C" __global__ void genericSwaps(u64 *out, u64 *last) {
  __shared__ u64 words[2];
  unsigned i = threadIdx.x;
  u64 own[4] = {0, 0, 0, 0};
  if (i < 2) words[i] = 0;
  __syncthreads();
  u64 before = i % 3 == 0 || i < 3 ? 0 : i - 2;
  u64 *place = i % 3 == 0 ? own + 2 + (i & 1) : i % 3 == 1 ? words : last;
  out[i] = atomicExch(place, i + 1);
  __syncthreads();
  if (i == 0) words[1] = 0;
  if (i == 31) last[1] = 0;
  __syncthreads();
  place = i % 3 == 0 ? own + (i >> 5) : i % 3 == 1 ? words + 1 : last + 1;
  out[blockDim.x + i] = atomicCAS(place, before, i + 1);
  out[2 * blockDim.x + i] = own[0];
  __syncthreads();
}
