// Additions of floats to shared memory, which ATOMS.CAST.SPIN makes in a loop: lane l adds to word
// words[l], or to the double that has it. casts.csv has what an H200 counts (driver 580.159.04) of
// one warp, whose first lanes add.
//
//! const active = 32
//! grid   = 1
//! block  = 32
//! buffer out: u32[64]
//! buffer words: s32[32]
//! arg    0 = out
//! arg    1 = words
//! arg    2 = active
extern "C" __global__ void cast(float *out, const int *idx, int active) {
  __shared__ float s[4096];
  for (int i = threadIdx.x; i < 4096; i += 32) s[i] = 0;
  __syncthreads();
  int i = idx[threadIdx.x];
  float old = 0;
  if ((int)threadIdx.x < active) old = atomicAdd(&s[i], 1.0f + threadIdx.x);
  out[threadIdx.x] = old;
}
extern "C" __global__ void cast64(double *out, const int *idx, int active) {
  __shared__ double s[2048];
  for (int i = threadIdx.x; i < 2048; i += 32) s[i] = 0;
  __syncthreads();
  int i = idx[threadIdx.x] / 2;
  double old = 0;
  if ((int)threadIdx.x < active) old = atomicAdd(&s[i], 1.0 + threadIdx.x);
  out[threadIdx.x] = old;
}
