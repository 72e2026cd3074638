// Bit masks, sign extensions, fields; on lanes and on uniform values.
//
//! kernel form_bit_fields
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_bit_fields(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    unsigned a = in[i], b = in[i + 1] & 63, c = in[i + 2] & 63, r, u;
    unsigned s = 0;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(b), "r"(c)); s = s * 31 + r;
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(r) : "r"(b), "r"(c)); s = s * 31 + r;
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); s = s * 31 + r;
    asm("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c)); s = s * 31 + r;
    asm("szext.clamp.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c)); s = s * 31 + r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 15), "r"(c & 15)); s = s * 31 + r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b * 77), "r"(b), "r"(c)); s = s * 31 + r;
    unsigned m = blockIdx.x * 5 + (n >> 14);
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u) : "r"(m), "r"(blockIdx.x + 3)); s = s * 31 + u;
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(u) : "r"(n * 7 + m), "r"(m)); s = s * 31 + u;
    u = __brev(n + blockIdx.x); s = s * 31 + u;
    u = __popc(n * 77 + blockIdx.x) + __clz(m); s = s * 31 + u;
    u = abs((int)(m - 9)); s = s * 31 + u;
    u = m > 12 ? n : blockIdx.x * 3; s = s * 31 + u;
    u = __byte_perm(n * 3, m * 0x1234567, 0x3715); s = s * 31 + u;
    u = min((int)m - 7, (int)blockIdx.x) + max(m, 11u); s = s * 31 + u;
    out[i] = s;
}
