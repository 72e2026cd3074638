// 64-bit shifts, comparisons and selections, signed and unsigned.
//
//! kernel wide_shift_compare
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void wide_shift_compare(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    long long a = (long long)in[i] * 0x123456789ll - 0x7fffffffffll, b = ~a * 3;
    int s = in[(i + 1) % n] & 63;
    long long r = (a >> s) + (b << (s ^ 5));
    unsigned long long u = (unsigned long long)b >> s;
    if (a < b) r += u; else r -= u;
    if ((unsigned long long)a < (unsigned long long)b) r ^= 0x5555;
    r = max(r, a) ^ min(u, (unsigned long long)b);
    out[i] = (int)(r ^ r >> 32);
}
