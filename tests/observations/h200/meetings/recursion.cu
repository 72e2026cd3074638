// Functions that call themselves, by lanes that part: each entry and return is logged. An H200 ran
// the kernels (driver 580.159.04): the digest of what each leaves in `out` is in
// recursion-outputs.csv. A thread's entries are active masks, and the number of the entry among
// those of its warp with that of the place. No access is volatile: a function with a volatile
// access would yield.
//
//! const  entries = 256
//! grid   = 64
//! block  = 32
//! buffer out: u32[64 * 32 * entries * 2] = fill(0)
//! arg    0 = out

#define ENTRIES 256u

// Entries of each lane, and of the warp.
__shared__ unsigned written[33];

__device__ __forceinline__ void log_place(uint2 *out, unsigned place) {
  unsigned at = written[threadIdx.x], number = written[32], mask;
  asm("activemask.b32 %0;" : "=r"(mask) : "r"(number));
  out[(blockIdx.x * 32 + threadIdx.x) * ENTRIES + at] = make_uint2(mask, number << 8 | place);
  written[threadIdx.x] = min(at + 1, ENTRIES - 1);
  written[32] = number + 1;
}

// Other numbers for each thread.
__device__ __forceinline__ unsigned begin(uint2 *out) {
  written[threadIdx.x] = 0;
  written[32] = 0;
  log_place(out, 90);
  return (blockIdx.x * 32 + threadIdx.x) * 2654435761u >> 9;
}

__device__ __forceinline__ void end(uint2 *out, int result) {
  log_place(out, 91);
  out[(blockIdx.x * 32 + threadIdx.x) * ENTRIES + ENTRIES - 1].x = result;
}

__device__ int odd_steps(uint2 *out, int v, int acc);
__device__ __noinline__ int even_steps(uint2 *out, int v, int acc) {
  log_place(out, 0);
  int result = v <= 0 ? acc : odd_steps(out, v - 1, acc * 3 + v);
  log_place(out, 1);
  return result;
}
__device__ __noinline__ int odd_steps(uint2 *out, int v, int acc) {
  log_place(out, 2);
  int result = v <= 0 ? ~acc : even_steps(out, v - 1, acc ^ v);
  log_place(out, 3);
  return result;
}
extern "C" __global__ void mutual(uint2 *out) {
  unsigned in = begin(out);
  int first = even_steps(out, in & 15, 1);
  log_place(out, 92);
  end(out, first + odd_steps(out, in >> 4 & 7, 2));
}

__device__ __noinline__ int ackermann(uint2 *out, int m, int k) {
  log_place(out, 0);
  if (m == 0) return k + 1;
  log_place(out, 1);
  if (k == 0) return ackermann(out, m - 1, 1);
  log_place(out, 2);
  int inner = ackermann(out, m, k - 1);
  log_place(out, 3);
  return ackermann(out, m - 1, inner);
}
extern "C" __global__ void nested(uint2 *out) {
  unsigned in = begin(out);
  end(out, ackermann(out, in & 1, in >> 1 & 7));
}

__device__ __noinline__ int fibonacci(uint2 *out, int k) {
  log_place(out, 0);
  int result = k;
  if (k >= 2) {
    result = fibonacci(out, k - 1);
    log_place(out, 1);
    result += fibonacci(out, k - 2);
    log_place(out, 2);
  }
  log_place(out, 3);
  return result;
}
extern "C" __global__ void twice(uint2 *out) {
  unsigned in = begin(out);
  end(out, fibonacci(out, in & 7));
}

__device__ __noinline__ int hanoi(uint2 *out, int disks, int from, int to) {
  log_place(out, 0);
  if (disks == 0) return 0;
  int via = 3 - from - to;
  int before = hanoi(out, disks - 1, from, via) + from * 2 + to + 1;
  log_place(out, 1);
  int after = hanoi(out, disks - 1, via, to);
  log_place(out, 2);
  return before + after;
}
extern "C" __global__ void towers(uint2 *out) {
  unsigned in = begin(out);
  end(out, hanoi(out, in % 6, 0, 2));
}
