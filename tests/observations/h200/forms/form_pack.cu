// Saturating packs, packed minima and maxima, dot products, absolute differences.
//
//! kernel form_pack
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_pack(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int a = in[i] - 30000, b = in[i + 1] - 30000, c = in[i + 2]; unsigned r, s = 0;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r) : "r"(a * 5), "r"(b)); s = s * 31 + r;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(r) : "r"(a * 5), "r"(b)); s = s * 31 + r;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s = s * 31 + r;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s = s * 31 + r;
    unsigned x = a * 40503u, y = b * 40503u, z = c * 40503u; bool p, q;
    s = s * 31 + __vmaxs2(x, y); s = s * 31 + __vminu2(y, z);
    s = s * 31 + __vimax3_s32(x, y, z); s = s * 31 + __vimin3_u32(x, y, z); s = s * 31 + __vimax3_s16x2(x, y, z); s = s * 31 + __vimin3_u16x2(x, y, z);
    s = s * 31 + __vimax3_s32_relu(x, y, z); s = s * 31 + __viaddmax_s32(x, y, z); s = s * 31 + __viaddmin_s16x2(x, y, z); s = s * 31 + __viaddmax_s16x2_relu(x, y, z);
    s = s * 31 + __vibmax_s32(x, y, &p) + p; s = s * 31 + __vibmin_u16x2(x, y, &p, &q) + p + 2 * q; s = s * 31 + __vimax_s16x2_relu(x, y);
    s = s * 31 + __dp4a((int)x, (int)y, (int)z); s = s * 31 + __dp2a_lo((int)x, (int)y, (int)z); s = s * 31 + __sad(a, b, z); s = s * 31 + __vabsdiffu4(x, y);
    out[i] = s;
}
