// 32-bit division and remainder by variables, signed and unsigned.
//
//! kernel divide_word
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void divide_word(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = in[i] * 40000 - 1000000000, b = in[(i + 1) % n] - 32768;
    if (b == 0) b = 1;
    unsigned c = a, d = b & 0xffffu;
    if (d == 0) d = 3;
    out[i] = a / b + a % b * 3 + (int)(c / d * 5 + c % d * 7);
}
