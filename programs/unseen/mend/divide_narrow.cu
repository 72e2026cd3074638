// Division and remainder by variables of 8 and 16 bits, signed and unsigned.
//
//! kernel divide_narrow
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void divide_narrow(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], w = in[(i + 1) % n];
    unsigned char a = v, b = (w & 255) | 1;
    signed char c = v >> 8, d = (w >> 8) | 1;
    unsigned short e = v * 3, f = w | 1;
    short g = v * 5, h = (short)(w * 7) | 1;
    out[i] = a / b + a % b * 3 + c / d * 5 + c % d * 7 + e / f * 11 + e % f + g / h * 13 + g % h;
}
