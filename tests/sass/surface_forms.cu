//! kernel surfaceForms
//! title  Loads, stores and sums on surfaces of every element size, inside and outside
//! const  w = 16
//! const  h = 8
//! const  n = 128
//! block  = 64
//! grid   = 2
//! buffer bytes: u8[w * h] = 7 * i for i
//! buffer shorts: u16[w * h] = 301 * i for i
//! buffer words: u32[w * h] = 70001 * i for i
//! buffer quads: u32[4 * w * h] = 65537 * i for i
//! buffer pairs: u32[2 * w * h] = fill(5)
//! buffer box: u32[4 * 4 * 8] = fill(6)
//! buffer layers: u32[8 * 4 * 4] = 3 * i for i
//! buffer layers4: u8[4 * 8 * 4 * 4] = fill(9)
//! buffer floats: f32[w * h] = fill(2)
//! buffer adds: u32[w * h] = fill(1)
//! buffer least: s32[w * h] = 1000 - 20 * i for i
//! buffer most: u32[2 * w * h] = i for i
//! buffer sums: u32[w * h] = fill(3)
//! buffer tops: u32[w * h] = fill(10)
//! buffer out: u32[8 * n]
//! surface b: bytes[w, h]
//! surface s: shorts[w, h]
//! surface q: quads[w, h] x4
//! surface p: pairs[w, h] x2
//! surface v: box[4, 4, 8]
//! surface l: layers[8, 4, 4] layered
//! surface l4: layers4[8, 4, 4] layered x4
//! surface f: floats[w, h]
//! surface a: adds[w, h]
//! surface z: least[w, h]
//! surface t: most[w, h] x2
//! surface u: sums[w, h]
//! surface x: tops[w, h]
//! arg    0 = out
//! arg    1 = b
//! arg    2 = s
//! arg    3 = q
//! arg    4 = p
//! arg    5 = v
//! arg    6 = l
//! arg    7 = l4
//! arg    8 = f
//! arg    9 = a
//! arg    10 = z
//! arg    11 = t
//! arg    12 = u
//! arg    13 = x
// The last columns and rows of some accesses are outside: loads give zeros, stores are left out, or
// the nearest texel is taken.
typedef cudaSurfaceObject_t Surface;
#define PLACE "r"(x), "r"(y)

extern "C" __global__ void surfaceForms(unsigned* out, Surface b, Surface s, Surface q, Surface p, Surface v,
                                        Surface l, Surface l4, Surface f, Surface a, Surface least,
                                        Surface most, Surface sums, Surface tops) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % 16, y = i / 16, beyond = x + i % 3, shifted = x + y % 2;
  // Lanes of a warp store to different texels.
  unsigned short c, d;
  unsigned r0, r1, r2, r3, e;
  asm volatile("suld.b.2d.b8.zero %0, [%1, {%2, %3}];" : "=h"(c) : "l"(b), "r"(beyond), "r"(y));
  asm volatile("suld.b.2d.b16.clamp %0, [%1, {%2, %3}];" : "=h"(d) : "l"(s), "r"(2 * beyond), "r"(y));
  asm volatile("suld.b.2d.v4.b32.clamp {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(q), "r"(16 * x), "r"(y));
  asm volatile("suld.b.a2d.b32.clamp %0, [%1, {%2, %3, %4, %4}];" : "=r"(e) : "l"(l), "r"(i / 32), "r"(x % 8 * 4), "r"(y % 4));
  unsigned* mine = out + 8 * i;
  mine[0] = c; mine[1] = d; mine[2] = r0; mine[3] = r1; mine[4] = r2; mine[5] = r3; mine[6] = e;
  asm volatile("sust.b.2d.b8.clamp [%0, {%1, %2}], %3;" :: "l"(b), PLACE, "h"((unsigned short)(c + 1)));
  asm volatile("sust.b.2d.b64.zero [%0, {%1, %2}], %3;" :: "l"(p), "r"(8 * shifted), "r"(y), "l"(1ull * i << 31));
  asm volatile("sust.b.3d.b32.clamp [%0, {%1, %2, %3, %3}], %4;" :: "l"(v), "r"(i % 4 * 4), "r"(i / 4 % 4), "r"(i / 16), "r"(11 * i));
  asm volatile("sust.p.2d.b32.zero [%0, {%1, %2}], %3;" :: "l"(f), "r"(shifted), "r"(y), "r"(__float_as_int(.125f * i)));
  asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" :: "l"(q), "r"(shifted), "r"(y), "r"(r0 + 1), "r"(i), "r"(-i), "r"(7));
  asm volatile("sust.p.a2d.v4.b32.clamp [%0, {%1, %2, %3, %3}], {%4, %5, %6, %7};" :: "l"(l4), "r"(x / 8 + y / 4 * 2), "r"(x % 8), "r"(y % 4), "r"(3 * i), "r"(i), "r"(-i), "r"(7));
  asm volatile("sured.b.add.2d.u32.clamp [%0, {%1, %2}], %3;" :: "l"(a), "r"(x / 2 * 4), "r"(y), "r"(i));
  asm volatile("sured.b.min.2d.s32.trap [%0, {%1, %2}], %3;" :: "l"(least), "r"(x / 4 * 4), "r"(y), "r"(500 - 9 * i));
  asm volatile("sured.b.max.2d.u64.trap [%0, {%1, %2}], %3;" :: "l"(most), "r"(x / 4 * 8), "r"(y), "l"(13ull * i << 20));
  asm volatile("sured.p.add.2d.b32.zero [%0, {%1, %2}], %3;" :: "l"(sums), "r"(beyond / 2), "r"(y), "r"(5 * i));
  asm volatile("sured.p.max.2d.b32.zero [%0, {%1, %2}], %3;" :: "l"(tops), "r"(beyond / 4), "r"(y), "r"(17 * i % 40));
}
