// Saturating additions and clamps, with the overflow found by signs.
//
//! kernel arith_saturate
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void arith_saturate(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = in[i] * 46341, b = in[(i + 1) % n] * -39916;
    int s = a + b;
    if (((a ^ s) & (b ^ s)) < 0) s = a < 0 ? (int)0x80000000 : 0x7fffffff;
    int h = __hadd(a, b) ^ __rhadd(a, b) ^ __mulhi(a, b) ^ (int)__umulhi(a, b);
    int c = min(max(a >> 8, -30000), 30000) + (int)__usad(a, b, 3);
    float f = __saturatef((float)in[i] * 1.5e-5f);
    out[i] = s ^ h ^ c ^ __float_as_int(f) ^ __mul24(a, b);
}
