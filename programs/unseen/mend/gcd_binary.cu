// Stein's gcd without division.
//
//! kernel gcd_binary
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gcd_binary(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] + 1, b = in[(i * 5 + 1) % n] + 1;
    int shift = __ffs(a | b) - 1;
    a >>= __ffs(a) - 1;
    do {
        b >>= __ffs(b) - 1;
        if (a > b) { unsigned t = a; a = b; b = t; }
        b -= a;
    } while (b);
    out[i] = a << shift;
}
