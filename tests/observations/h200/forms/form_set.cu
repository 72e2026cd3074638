// Comparisons of floats and halves whose result is a number.
//
//! kernel form_set
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_set(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float a = in[i] * 0.5f - 9000.0f, b = in[i + 1] - 30000.0f, f;
    unsigned r, s = 0;
    asm("set.lt.f32.f32 %0, %1, %2;" : "=f"(f) : "f"(a), "f"(b)); s = s * 7 + (unsigned)f;
    asm("set.gt.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(a), "f"(b)); s = s * 7 + r;
    asm("set.neu.ftz.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(a), "f"(b)); s = s * 7 + r;
    unsigned h = (in[i] & 0x3fff) | (in[i + 2] & 0x3fff) << 16, g = (in[i + 1] & 0x3fff) | (in[i] & 0x3fff) << 16;
    asm("set.lt.f16x2.f16x2 %0, %1, %2;" : "=r"(r) : "r"(h), "r"(g)); s = s * 7 + r;
    asm("set.geu.f16x2.f16x2 %0, %1, %2;" : "=r"(r) : "r"(h), "r"(g)); s = s * 7 + r;
    asm("{.reg .f16 x, y, u, v; .reg .pred p; mov.b32 {x, u}, %1; mov.b32 {y, v}, %2; setp.gt.f16 p, x, y; selp.u32 %0, 3, 4, p;}" : "=r"(r) : "r"(h), "r"(g)); s = s * 7 + r;
    asm("set.eq.u32.s32 %0, %1, %2;" : "=r"(r) : "r"(h & 3), "r"(g & 3)); s = s * 7 + r;
    out[i] = s;
}
