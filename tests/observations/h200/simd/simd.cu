// Intrinsics on 16-bit and 8-bit parts of words. outputs.csv has the digest of what each kernel leaves
// in `out` on an H200 (driver 580.159.04).
//
//! const  n = 4096
//! grid   = 4
//! block  = 64
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, unsigned n)
#define THREE unsigned i = blockIdx.x * blockDim.x + threadIdx.x; unsigned a = in[i] * 2654435761u, b = in[i + 256] * 2246822519u, c = in[i + 512] * 3266489917u, h = 0
KERNEL(unary0) {
    THREE;
    h = h * 31 + __vabs2(a);
    h = h * 31 + __vabs4(a);
    h = h * 31 + __vabsss2(a);
    h = h * 31 + __vabsss4(a);
    h = h * 31 + __vneg2(a);
    h = h * 31 + __vneg4(a);
    h = h * 31 + __vnegss2(a);
    h = h * 31 + __vnegss4(a);
    out[i] = h;
}
KERNEL(binary0) {
    THREE;
    h = h * 31 + __vabsdiffs2(a, b);
    h = h * 31 + __vabsdiffs4(a, b);
    h = h * 31 + __vabsdiffu2(a, b);
    h = h * 31 + __vabsdiffu4(a, b);
    h = h * 31 + __vadd2(a, b);
    h = h * 31 + __vadd4(a, b);
    h = h * 31 + __vaddss2(a, b);
    h = h * 31 + __vaddss4(a, b);
    out[i] = h;
}
KERNEL(binary1) {
    THREE;
    h = h * 31 + __vaddus2(a, b);
    h = h * 31 + __vaddus4(a, b);
    h = h * 31 + __vavgs2(a, b);
    h = h * 31 + __vavgs4(a, b);
    h = h * 31 + __vavgu2(a, b);
    h = h * 31 + __vavgu4(a, b);
    h = h * 31 + __vcmpeq2(a, b);
    h = h * 31 + __vcmpeq4(a, b);
    out[i] = h;
}
KERNEL(binary2) {
    THREE;
    h = h * 31 + __vcmpges2(a, b);
    h = h * 31 + __vcmpges4(a, b);
    h = h * 31 + __vcmpgeu2(a, b);
    h = h * 31 + __vcmpgeu4(a, b);
    h = h * 31 + __vcmpgts2(a, b);
    h = h * 31 + __vcmpgts4(a, b);
    h = h * 31 + __vcmpgtu2(a, b);
    h = h * 31 + __vcmpgtu4(a, b);
    out[i] = h;
}
KERNEL(binary3) {
    THREE;
    h = h * 31 + __vcmples2(a, b);
    h = h * 31 + __vcmpleu4(a, b);
    h = h * 31 + __vcmplts2(a, b);
    h = h * 31 + __vcmpltu4(a, b);
    h = h * 31 + __vcmpne2(a, b);
    h = h * 31 + __vcmpne4(a, b);
    h = h * 31 + __vhaddu2(a, b);
    h = h * 31 + __vhaddu4(a, b);
    out[i] = h;
}
KERNEL(binary4) {
    THREE;
    h = h * 31 + __vmaxs2(a, b);
    h = h * 31 + __vmaxs4(a, b);
    h = h * 31 + __vmaxu2(a, b);
    h = h * 31 + __vmaxu4(a, b);
    h = h * 31 + __vmins2(a, b);
    h = h * 31 + __vmins4(a, b);
    h = h * 31 + __vminu2(a, b);
    h = h * 31 + __vminu4(a, b);
    out[i] = h;
}
KERNEL(binary5) {
    THREE;
    h = h * 31 + __vsads2(a, b);
    h = h * 31 + __vsads4(a, b);
    h = h * 31 + __vsadu2(a, b);
    h = h * 31 + __vsadu4(a, b);
    h = h * 31 + __vseteq2(a, b);
    h = h * 31 + __vseteq4(a, b);
    h = h * 31 + __vsetges2(a, b);
    h = h * 31 + __vsetgeu4(a, b);
    out[i] = h;
}
KERNEL(binary6) {
    THREE;
    h = h * 31 + __vsetgts2(a, b);
    h = h * 31 + __vsetgtu4(a, b);
    h = h * 31 + __vsetles2(a, b);
    h = h * 31 + __vsetleu4(a, b);
    h = h * 31 + __vsetlts2(a, b);
    h = h * 31 + __vsetltu4(a, b);
    h = h * 31 + __vsetne2(a, b);
    h = h * 31 + __vsetne4(a, b);
    out[i] = h;
}
KERNEL(binary7) {
    THREE;
    h = h * 31 + __vsub2(a, b);
    h = h * 31 + __vsub4(a, b);
    h = h * 31 + __vsubss2(a, b);
    h = h * 31 + __vsubss4(a, b);
    h = h * 31 + __vsubus2(a, b);
    h = h * 31 + __vsubus4(a, b);
    h = h * 31 + __vimax_s16x2_relu(a, b);
    h = h * 31 + __vimin_s16x2_relu(a, b);
    out[i] = h;
}
KERNEL(binary8) {
    THREE;
    h = h * 31 + __vimax_s32_relu(a, b);
    h = h * 31 + __vimin_s32_relu(a, b);
    out[i] = h;
}
KERNEL(ternary0) {
    THREE;
    h = h * 31 + __vimax3_s16x2(a, b, c);
    h = h * 31 + __vimax3_u16x2(a, b, c);
    h = h * 31 + __vimin3_s16x2(a, b, c);
    h = h * 31 + __vimin3_u16x2(a, b, c);
    h = h * 31 + __vimax3_s32(a, b, c);
    h = h * 31 + __vimax3_u32(a, b, c);
    h = h * 31 + __vimin3_s32(a, b, c);
    h = h * 31 + __vimin3_u32(a, b, c);
    out[i] = h;
}
KERNEL(ternary1) {
    THREE;
    h = h * 31 + __vimax3_s16x2_relu(a, b, c);
    h = h * 31 + __vimin3_s16x2_relu(a, b, c);
    h = h * 31 + __vimax3_s32_relu(a, b, c);
    h = h * 31 + __vimin3_s32_relu(a, b, c);
    h = h * 31 + __viaddmax_s16x2(a, b, c);
    h = h * 31 + __viaddmax_u16x2(a, b, c);
    h = h * 31 + __viaddmin_s16x2(a, b, c);
    h = h * 31 + __viaddmin_u16x2(a, b, c);
    out[i] = h;
}
KERNEL(ternary2) {
    THREE;
    h = h * 31 + __viaddmax_s32(a, b, c);
    h = h * 31 + __viaddmax_u32(a, b, c);
    h = h * 31 + __viaddmin_s32(a, b, c);
    h = h * 31 + __viaddmin_u32(a, b, c);
    h = h * 31 + __viaddmax_s16x2_relu(a, b, c);
    h = h * 31 + __viaddmin_s16x2_relu(a, b, c);
    h = h * 31 + __viaddmax_s32_relu(a, b, c);
    h = h * 31 + __viaddmin_s32_relu(a, b, c);
    out[i] = h;
}
KERNEL(picks) {
    THREE;
    bool p, q;
    h = h * 31 + __vibmax_s16x2(a, b, &p, &q);
    h = h * 4 + 2 * p + q;
    h = h * 31 + __vibmax_u16x2(a, b, &p, &q);
    h = h * 4 + 2 * p + q;
    h = h * 31 + __vibmin_s16x2(a, b, &p, &q);
    h = h * 4 + 2 * p + q;
    h = h * 31 + __vibmin_u16x2(a, b, &p, &q);
    h = h * 4 + 2 * p + q;
    h = h * 31 + __vibmax_s32(a, b, &p);
    h = h * 4 + p;
    h = h * 31 + __vibmax_u32(a, b, &p);
    h = h * 4 + p;
    h = h * 31 + __vibmin_s32(a, b, &p);
    h = h * 4 + p;
    h = h * 31 + __vibmin_u32(a, b, &p);
    h = h * 4 + p;
    out[i] = h;
}
