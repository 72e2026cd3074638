// Four-byte and two-short arithmetic with the SIMD intrinsics and dp4a.
//
//! kernel bits_simd_bytes
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bits_simd_bytes(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] * 66049u, b = in[(i + 3) % n] * 16843009u;
    int r = __dp4a((int)a, (int)b, (int)i);
    r = __dp4a(a, b, (unsigned)r);
    r ^= __vadd4(a, b) + __vabsdiffu4(a, b) + __vmaxu2(a, b) + __vcmpgtu4(a, b);
    r += __vavgu4(a, b) ^ __vaddss2(a, b) ^ __vsubus4(a, b);
    out[i] = r + __sad((int)a, (int)b, 5u) + __dp2a_lo((int)a, (int)b, 1);
}
