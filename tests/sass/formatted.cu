//! kernel formatted
//! title  Formatted stores to surfaces
//! const  w = 8
//! const  h = 4
//! block  = w * h
//! grid   = 1
//! buffer bytes: u8[4 * w * h] = fill(9)
//! buffer floats: f32[2 * w * h] = fill(9)
//! buffer out: s16[w * h] = fill(9)
//! surface quads: bytes[w, h] x4
//! surface pairs: floats[w, h] x2
//! surface singles: out[w * h]
//! arg    0 = quads
//! arg    1 = pairs
//! arg    2 = singles
//! expect bytes[4 * i] == min(255, 100 * i) for i in 0..w * h
//! expect bytes[4 * i + 1] == i for i in 0..w * h
//! expect bytes[4 * i + 2] == (i == 0 ? 0 : 255) for i in 0..w * h
//! expect bytes[4 * i + 3] == 7 for i in 0..w * h
//! expect floats[2 * i] == 0.25 * i for i in 0..w * h
//! expect floats[2 * i + 1] == 0.5 for i in 0..w * h
//! expect out[i] == (i % 2 == 0 ? -32768 : 9) for i in 0..w * h
extern "C" __global__ void formatted(cudaSurfaceObject_t quads, cudaSurfaceObject_t pairs,
                                     cudaSurfaceObject_t singles) {
  int i = threadIdx.x, x = i % 8, y = i / 8;
  asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(quads), "r"(x),
               "r"(y), "r"(100 * i), "r"(i), "r"(-i), "r"(7));
  asm volatile("sust.p.2d.v2.b32.clamp [%0, {%1, %2}], {%3, %4};" ::"l"(pairs), "r"(x), "r"(y),
               "r"(__float_as_int(.25f * i)), "r"(__float_as_int(.5f)));
  // An odd lane is outside.
  asm volatile("sust.p.1d.b32.zero [%0, {%1}], {%2};" ::"l"(singles), "r"(i + i % 2 * 64),
               "r"(-70000));
}
