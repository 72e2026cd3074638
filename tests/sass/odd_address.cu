//! kernel oddAddress
//! title  A store to an address that 4 does not divide
//! grid   = 1
//! block  = 32
//! buffer out: s32[64] = fill(0)
//! arg    0 = out
//! expect finish == fault
extern "C" __global__ void oddAddress(char* out) {
  int i = threadIdx.x;
  *reinterpret_cast<int*>(out + 6 * i) = i;
}
