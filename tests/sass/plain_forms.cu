//! kernel plainForms
//! title  Saturated sums, rounding, and comparisons that are joined
//! const  n = 4096
//! block  = 128
//! grid   = 32
//! buffer in: f32[n] = (i * 2654435761 % 65536 - 32768) * 0.00390625 for i
//! buffer words: u32[n] = lcg(12345)
//! buffer out: u32[8 * n]
//! arg    0 = in
//! arg    1 = words
//! arg    2 = out
//! arg    3 = n
extern "C" __global__ void plainForms(const float* in, const unsigned* words, unsigned* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = in[i], b = in[(i * 7 + 3) % n], c = in[(i + 64) % n];
  unsigned u = words[i], v = words[(i + 1) % n];
  unsigned* mine = out + 8 * i;
  mine[0] = __float_as_uint(__saturatef(a + b));
  mine[1] = __float_as_uint(__saturatef(fmaf(a, b, c)));
  mine[2] = __float_as_uint(rintf(a) + floorf(b * 3));
  mine[3] = __float_as_uint(truncf(c) + floorf(a));
  bool equal = a == floorf(a), negative = u > v;
  mine[4] = (equal && b < c ? 1 : 2) + (truncf(b) == b || negative ? 4 : 8) + (!(a <= b) || c == 0 ? 16 : 32);
  unsigned long long x = (unsigned long long)u << 32 | (v & 3), y = (unsigned long long)(u ^ (v & 1)) << 32 | (i & 3);
  mine[5] = (x == y && negative ? 1 : 0) + (x == y || (int)u > (int)v ? 2 : 4) + ((int)u > 5 || (int)v > (int)i ? 8 : 16);
  mine[6] = __float_as_uint(a == 0.5f || b == 0.25f || c != c ? a : c);
}
