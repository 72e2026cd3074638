//! kernel images
//! title  Fetches and surfaces whose objects are parameters, or differ between lanes
//! const  w = 8
//! const  h = 4
//! const  n = 64
//! grid   = 1
//! block  = n
//! buffer in: f32[w * h] = i * i % 37 for i
//! buffer other: f32[w * h] = (100 + i) for i
//! buffer line: f32[w] = 3 * i for i
//! buffer memory: u32[w * h] = 7 * i for i
//! buffer target: u32[w * h]
//! buffer second: u32[w * h] = fill(9)
//! buffer sums: u32[w]
//! texture a: in[w, h]
//! texture b: other[w, h]
//! texture row: line[w] linear
//! texture layers: in[4, 2, 4] layered
//! texture box: in[2, 4, 4]
//! surface source: memory[w, h]
//! surface left: target[w, h]
//! surface right: second[w, h]
//! surface total: sums[w]
//! buffer out: f32[12 * n]
//! arg    0 = out
//! arg    1 = a
//! arg    2 = b
//! arg    3 = row
//! arg    4 = layers
//! arg    5 = box
//! arg    6 = source
//! arg    7 = left
//! arg    8 = right
//! arg    9 = total
//! expect out[12 * i] == (i % 3 == 1 ? other[i % 32] : in[i % 32]) for i in 0..n
//! expect out[12 * i + 1] == in[i % 32] for i in 0..n
//! expect out[12 * i + 2] == line[i % 7] + 1.5 for i in 0..n
//! expect out[12 * i + 3] == in[i % 32] for i in 0..n
//! expect out[12 * i + 4] == in[i % 32] for i in 0..n
//! expect out[12 * i + 5] == in[i % 32] for i in 0..n
//! expect out[12 * i + 6] == in[i % 3 * w + i % 7] for i in 0..n
//! expect out[12 * i + 7] == (i % 3 == 1 ? 8 : w * h) for i in 0..n
//! expect out[12 * i + 8] == memory[i % 32] for i in 0..n
//! expect out[12 * i + 9] == in[i % 32] for i in 0..n
//! expect out[12 * i + 10] == in[i % 32] for i in 0..n
//! expect target[i] == (i % 2 == 0 ? i : 0) for i in 0..w * h
//! expect second[i] == (i % 2 == 0 ? 9 : i) for i in 0..w * h
//! expect sums[i] == 8 * (2 * i + 56) for i in 0..w
extern "C" __global__ void images(float* out, cudaTextureObject_t a, cudaTextureObject_t b,
                                  cudaTextureObject_t row, cudaTextureObject_t layers,
                                  cudaTextureObject_t box, cudaSurfaceObject_t source,
                                  cudaSurfaceObject_t left, cudaSurfaceObject_t right,
                                  cudaSurfaceObject_t total) {
  int i = threadIdx.x;
  float x = i % 8 + .5f, y = i / 8 % 4 + .5f;
  out += 12 * i;
  // Objects that differ between lanes.
  cudaTextureObject_t mine = i % 3 == 1 ? b : a;
  out[0] = tex2D<float>(mine, x, y);
  out[1] = tex2D<float>(a, x, y);
  out[2] = tex1D<float>(row, i % 7 + 1);
  out[3] = tex2DLayered<float>(layers, i % 4 + .5f, i / 4 % 2 + .5f, i / 8 % 4);
  out[4] = tex3D<float>(box, i % 2 + .5f, i / 2 % 4 + .5f, i / 8 % 4 + .5f);
  out[5] = tex2DLayeredGrad<float>(layers, i % 4 + .5f, i / 4 % 2 + .5f, i / 8 % 4,
                                   make_float2(x, 1), make_float2(y, 1));
  out[6] = tex2Dgather<float4>(a, i % 7 + 1, i % 3 + 1, 0).w;
  unsigned width, height;
  cudaTextureObject_t asked = i % 3 == 1 ? row : a;
  asm("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(asked));
  asm("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(a));
  out[7] = i % 3 == 1 ? width : width * height;
  out[8] = surf2Dread<unsigned>(source, 4 * (i % 8), i / 8 % 4);
  out[9] = tex2DLod<float>(mine == b ? a : mine, x, y, x);
  out[10] = tex2DGrad<float>(a, x, y, make_float2(x, y), make_float2(y, x));
  if (i < 32) surf2Dwrite<unsigned>(i, i % 2 ? right : left, 4 * (i % 8), i / 8);
  asm volatile("sured.b.add.1d.u32.trap [%0, {%1}], %2;" ::"l"(total), "r"(4 * (i % 8)), "r"(2 * i));
}
