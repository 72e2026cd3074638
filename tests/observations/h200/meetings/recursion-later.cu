// Functions that call themselves, written after the rules of their lanes: outputs and counters of
// an H200 (driver 580.159.04, ncu 2025.3.1).
//
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out

#define KERNEL(name, value) \
  extern "C" __global__ void name(const int *in, int *out) { \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; \
    int v = in[i]; \
    out[i] = value; \
  }

__device__ __noinline__ int trees(int nodes) {
  if (nodes <= 1) return 1;
  int sum = 0;
  for (int left = 0; left < nodes; left++) sum += trees(left) * trees(nodes - 1 - left);
  return sum;
}
KERNEL(catalan, trees(v % 6))

__device__ __noinline__ int steps(unsigned v, int left) {
  if (v == 1 || left == 0) return 0;
  if (v & 1) return 1 + steps(3 * v + 1, left - 1);
  return 1 + steps(v / 2, left - 1);
}
KERNEL(collatz, steps((v & 63) + 1, 12))

__device__ __noinline__ int fill(unsigned *map, int x, int y) {
  if (x < 0 || y < 0 || x > 3 || y > 3) return 0;
  unsigned bit = 1u << (4 * y + x);
  if (!(*map & bit)) return 0;
  *map &= ~bit;
  return 1 + fill(map, x + 1, y) + fill(map, x - 1, y) + fill(map, x, y + 1) + fill(map, x, y - 1);
}
__device__ int filled(unsigned map, int from) { return fill(&map, from & 3, from >> 2 & 3); }
KERNEL(flood, filled(v, i))

__device__ __noinline__ int divisor(int a, int b) {
  if (b == 0) return a;
  int found = divisor(b, a % b);
  return found + (a & 1);
}
KERNEL(euclid, divisor(v + 1, (v >> 3) + 1))

__device__ __noinline__ int permute(unsigned used, int left, int sum) {
  if (left == 0) return sum % 5 == 0;
  int count = 0;
  for (int k = 0; k < 4; k++)
    if (!(used >> k & 1) && (sum + k & 3)) count += permute(used | 1u << k, left - 1, sum + k * left);
  return count;
}
KERNEL(permutations, permute(v & 15, 2 + (v >> 4 & 1), v >> 6 & 15))

__device__ __noinline__ int power(int base, int exponent) {
  if (exponent == 0) return 1;
  int half = power(base, exponent / 2);
  return exponent & 1 ? half * half * base : half * half;
}
KERNEL(powers, power(v & 31, v >> 5 & 63) + power(3, v & 7))

__device__ int second(int v, int a);
__device__ int third(int v, int a);
__device__ __noinline__ int first(int v, int a) {
  return v <= 0 ? a : v % 3 ? second(v - 1, a + v) : third(v - 2, a * 3);
}
__device__ __noinline__ int second(int v, int a) {
  if (v <= 0) return a ^ 1;
  int before = third(v - 3, a);
  return before + first(v - 2, a + 1);
}
__device__ __noinline__ int third(int v, int a) { return v <= 0 ? ~a : first(v - 1, a ^ v) + 1; }
KERNEL(three, first(v & 7, v >> 4 & 15))

__device__ __noinline__ int walk(const int *in, unsigned at, int depth) {
  int v = in[at & 65535];
  if (depth == 0 || (v & 7) == 0) return v;
  int left = walk(in, 2 * at + 1, depth - 1);
  if (left & 1) return left + v;
  return left + walk(in, 2 * at + 2, depth - 1);
}
KERNEL(walks, walk(in, i, v & 3))
