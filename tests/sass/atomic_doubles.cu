//! kernel atomicDoubles
//! title  Atomic sums of doubles through generic addresses of global and shared memory
//! grid   = 1
//! block  = 32
//! buffer out: f64[3] = fill(0)
//! arg    0 = out
//! expect out[0] == 150.0
//! expect out[1] == 181.0
//! expect out[2] == 165.0
__device__ __noinline__ void add(double* p, double v) { atomicAdd(p, v); }

extern "C" __global__ void atomicDoubles(double* out) {
  __shared__ double sums[2];
  int i = threadIdx.x;
  if (i < 2) sums[i] = 0;
  __syncthreads();
  add(i % 3 == 0 ? out + 2 : sums + (i & 1), i);
  __syncthreads();
  if (i < 2) out[i] = sums[i];
}
