//! kernel d_hi
//! const  n = 65536
//! grid   = 132
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[4 * n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void d_hi(const int *in, int *out, unsigned n) {
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) & 65535, t = threadIdx.x;
    unsigned x = in[t], y = in[t + 1], z = in[t + 2], w = in[t + 3];
    float f0 = x, f1 = y, f2 = z, f3 = w, f4 = x + 1, f5 = y + 1, f6 = z + 1, f7 = w + 1;
    unsigned a0 = x, a1 = y, a2 = z, a3 = w, a4 = x + 1, a5 = y + 1, a6 = z + 1, a7 = w + 1;
    unsigned long long l0 = x, l1 = y, l2 = z, l3 = w, l4 = x + 1, l5 = y + 1, l6 = z + 1, l7 = w + 1;
    double d0 = x, d1 = y, d2 = z, d3 = w;
#pragma unroll 1
    for (int j = 0; j < 64; j++) {
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a0) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a1) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a2) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a3) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a4) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a5) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a6) : "r"(z));
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a7) : "r"(z));
    }
    out[i] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + (unsigned)(l0 + l1 + l2 + l3 + l4 + l5 + l6 + l7) + (unsigned)((l0 ^ l1 ^ l2 ^ l3 ^ l4 ^ l5 ^ l6 ^ l7) >> 32) + (unsigned)(f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7) + (unsigned)(d0 + d1 + d2 + d3);
}
