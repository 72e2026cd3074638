//! kernel genericConstants
//! title  Loads through generic addresses of constants and of global memory
//! grid   = 1
//! block  = 32
//! buffer out: s32[64] = fill(-1)
//! buffer in: s32[32] = iota
//! arg    0 = out
//! arg    1 = in
//! expect out[i] == (i % 2 == 0 ? i : 7 + i % 4) for i in 0..32
//! expect out[i + 32] == (i % 2 == 0 ? 1 : 2) for i in 0..32
__constant__ int table[4] = {7, 8, 9, 10};
__device__ __noinline__ int load(const int* p) { return *p; }

extern "C" __global__ void genericConstants(int* out, const int* in) {
  int i = threadIdx.x;
  const int* p = i % 2 == 0 ? in + i : table + i % 4;
  out[i] = load(p);
  out[i + 32] = __isGlobal(p) | __isConstant(p) << 1;
}
