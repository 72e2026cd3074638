//! kernel branchTogether
//! title  A branch that lanes take together or not at all, before the BSSY of the rest
//! grid   = 1
//! block  = 64
//! buffer in: u32[256] = lcg(2)
//! buffer has: u32[64] = fill(9)
//! buffer out: u32[64]
//! arg    0 = in
//! arg    1 = has
//! arg    2 = out
//! expect has == (in[4 * i] >> 3 & 1) ^ 1 for i
//! expect out[0..64] == 76
extern "C" __global__ void branchTogether(const uint4* in, unsigned* has, unsigned* out) {
  __shared__ unsigned n;
  __shared__ unsigned long long slots[64];
  unsigned t = threadIdx.x;
  uint4 v = in[t];
  unsigned long long q = ((unsigned long long)v.z << 32 | v.w) * 0x9e3779b97f4a7c15 ^
                         ((unsigned long long)v.x << 32 | v.y);
  bool p = (v.x & 8) == 0;
  if (t == 0) n = 0;
  __syncthreads_and(p);
  if (p) slots[atomicAdd(&n, 1)] = q;
  __syncthreads();
  unsigned found = 0;
  for (unsigned j = 0; j < n; j++) found += slots[j] != 0;
  out[t] = found + n;
  has[t] = p;
}
