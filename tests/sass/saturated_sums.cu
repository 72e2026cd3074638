//! kernel saturatedSums
//! title  Saturating sums and differences, which compare signs (PLOP3)
//! grid   = 1
//! block  = 64
//! buffer out: s32[192] = fill(0)
//! buffer in: s32[128] = lcg(7)
//! arg    0 = out
//! arg    1 = in
//! expect out[i] == min(max(in[i] + in[i + 64], -2147483648), 2147483647) for i in 0..64
//! expect out[i] == min(max(in[i - 64] - in[i], -2147483648), 2147483647) for i in 64..128
//! expect out[i] == min(in[i - 128] + 1610612737, 2147483647) for i in 128..192
extern "C" __global__ void saturatedSums(int* out, const int* in) {
  int t = threadIdx.x, a = in[t], b = in[t + 64], sum, difference, more;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  asm("add.sat.s32 %0, %1, 1610612737;" : "=r"(more) : "r"(a));
  out[t] = sum;
  out[t + 64] = difference;
  out[t + 128] = more;
}
