// Conversions of halves, bfloat16 and small integers, with roundings.
//
//! kernel form_narrow_floats
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_narrow_floats(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float f = (in[i] - 30000) * 0.37f, g = (in[i + 1] - 30000) * 0.0011f; unsigned r, s = 0; unsigned short h; float x;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(f), "f"(g)); s = s * 31 + r;
    asm("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(f), "f"(g)); s = s * 31 + r;
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(f), "f"(g)); s = s * 31 + r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(f)); s = s * 31 + r;
    asm("cvt.rzi.s16.f32 %0, %1;" : "=h"(h) : "f"(g)); s = s * 31 + h;
    asm("cvt.rmi.sat.u8.f32 %0, %1;" : "=r"(r) : "f"(f)); s = s * 31 + r;
    asm("cvt.rn.f32.s8 %0, %1;" : "=f"(x) : "r"(in[i] & 127)); s = s * 31 + __float_as_uint(x);
    asm("cvt.rn.f16.u32 %0, %1;" : "=h"(h) : "r"(in[i] & 2047)); s = s * 31 + h;
    asm("cvt.rpi.f32.f32 %0, %1;" : "=f"(x) : "f"(g)); s = s * 31 + __float_as_uint(x);
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(0x3c003e00 + (in[i] & 255)), "r"(0x38003c00 + (in[i + 1] & 255)), "r"(0x40003800)); s = s * 31 + r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(0x3f803fc0 + (in[i] & 63)), "r"(0x3f003f80 + (in[i + 1] & 63)), "r"(0x40003f00)); s = s * 31 + r;
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(0x3c003e00 + (in[i] & 255)), "r"(0x3c803e40)); s = s * 31 + r;
    asm("min.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(0x3f803fc0 + (in[i] & 63)), "r"(0x3f903fa0)); s = s * 31 + r;
    out[i] = s;
}
