//! kernel pastEnd
//! title  A store one element past the end
//! grid   = 1
//! block  = 64
//! buffer out: s32[64] = fill(0)
//! arg    0 = out
//! expect finish == fault
extern "C" __global__ void pastEnd(int* out) {
  int i = threadIdx.x;
  out[i + 1] = i;
}
