// straight_hash: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel straight_hash
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void straight_hash(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i], b = 0x9e3779b9u, c = i;
#define R(p, q, r, s) p -= q; p -= r; p ^= r >> s; q -= r; q -= p; q ^= p << (s - 3); r -= p; r -= q; r ^= q >> (s + 2);
#define R4(s) R(a, b, c, s) R(b, c, a, s) R(c, a, b, s) R(a, c, b, s)
    R4(5) R4(6) R4(7) R4(8) R4(9) R4(10) R4(11) R4(12) R4(13) R4(14)
    out[i] = a ^ b ^ c;
}
