// Saturating conversions to small integers.
//
//! kernel form_saturate
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_saturate(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, r, s = 0;
    // Values around the limits of the types.
    int a = (in[i] - 30000) >> (i & 15), b = (in[i + 1] - 30000) * (i & 7), c = in[i + 2];
    float f = (in[i] & 1023) * 0.37f - 50.0f;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(r) : "r"(a)); s = s * 31 + r;
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(r) : "r"(a)); s = s * 31 + r;
    asm("cvt.sat.s16.s32 %0, %1;" : "=r"(r) : "r"(b)); s = s * 31 + r;
    asm("cvt.sat.u16.s32 %0, %1;" : "=r"(r) : "r"(b)); s = s * 31 + r;
    asm("cvt.rni.u8.f32 %0, %1;" : "=r"(r) : "f"(f)); s = s * 31 + r;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(r) : "f"(f)); s = s * 31 + r;
    asm("cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s = s * 31 + r;
    asm("cvt.pack.sat.s4.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(b), "r"(a), "r"(c)); s = s * 31 + r;
    asm("cvt.pack.sat.u2.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s = s * 31 + r;
    asm("cvt.pack.sat.s2.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(b), "r"(a), "r"(c)); s = s * 31 + r;
    out[i] = s;
}
