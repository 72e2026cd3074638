//! kernel genericPlaces
//! title  Stores, loads and sums whose lanes reach global, shared and local memory at once
//! grid   = 1
//! block  = 96
//! buffer wide: s32[384] = fill(-1)
//! buffer out: s32[96] = fill(-1)
//! buffer count: s32[1] = fill(0)
//! arg    0 = wide
//! arg    1 = out
//! arg    2 = count
//! expect out[i] == 4 * (i % 3 == 0 ? i + 1 : i % 3 == 1 ? i - 1 : i) + 6 for i in 0..96
//! expect count[0] == 96
__device__ __noinline__ void put(int4* p, int i) { *p = make_int4(i, i + 1, i + 2, i + 3); }
__device__ __noinline__ int get(const int4* p) { return p->x + p->y + p->z + p->w; }
__device__ __noinline__ void add(int* p) { atomicAdd(p, 1); }

extern "C" __global__ void genericPlaces(int4* wide, int* out, int* count) {
  __shared__ int4 shared[96];
  __shared__ int counted;
  int4 local[2];
  int i = threadIdx.x;
  int4* mine = local + (i & 1);
  if (i == 0) counted = 0;
  put(i % 3 == 0 ? wide + i : i % 3 == 1 ? shared + i : mine, i);
  __syncthreads();
  out[i] = get(i % 3 == 0 ? shared + i + 1 : i % 3 == 1 ? wide + i - 1 : mine);
  add(i % 2 ? &counted : count);
  __syncthreads();
  if (i == 0) *count += counted;
}
