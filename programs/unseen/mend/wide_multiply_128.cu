// A 128-bit product, sum and shift from 64-bit halves.
//
//! kernel wide_multiply_128
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void wide_multiply_128(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = in[i] * 0x9E3779B97F4A7C15ull;
    unsigned long long b = in[(i + 1) % n] * 0xC2B2AE3D27D4EB4Full;
    unsigned __int128 p = (unsigned __int128)a * b;
    p += (unsigned __int128)b << 40;
    p ^= p >> (in[i] & 127);
    unsigned long long r = (unsigned long long)p ^ (unsigned long long)(p >> 64);
    out[i] = (int)(r ^ r >> 32);
}
