//! kernel genericAddresses
//! title  Loads through generic addresses of three spaces, and questions about them
//! grid   = 1
//! block  = 32
//! buffer out: s32[64] = fill(-1)
//! buffer in: s32[32] = iota
//! arg    0 = out
//! arg    1 = in
//! expect out[i] == (i % 3 == 0 ? i : i % 3 == 1 ? 100 + (i ^ 1) : 200 + i) for i in 0..32
//! expect out[i + 32] == (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 4) for i in 0..32
__device__ __noinline__ int load(const int* p) { return *p; }

extern "C" __global__ void genericAddresses(int* out, const int* in) {
  __shared__ int shared[32];
  int local[4];
  int i = threadIdx.x;
  shared[i] = 100 + i;
  local[i & 3] = 200 + i;
  __syncthreads();
  const int* p = i % 3 == 0 ? in + i : i % 3 == 1 ? shared + (i ^ 1) : local + (i & 3);
  out[i] = load(p);
  out[i + 32] = __isGlobal(p) | __isShared(p) << 1 | __isLocal(p) << 2;
  __nanosleep(0);
}
