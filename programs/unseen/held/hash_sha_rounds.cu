// Sixteen rounds in the manner of SHA-256 with a message of sixteen words.
//
//! kernel hash_sha_rounds
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ unsigned turn(unsigned x, int k) { return __funnelshift_r(x, x, k); }

extern "C" __global__ void hash_sha_rounds(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    unsigned e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
    for (int k = 0; k < 16; k++) {
        unsigned w = in[(i + k) % n] * 65537u;
        unsigned s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25), ch = (e & f) ^ (~e & g);
        unsigned t1 = h + s1 + ch + w + 0x428a2f98u * (k + 1);
        unsigned s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22), maj = (a & b) ^ (a & c) ^ (b & c);
        h = g; g = f; f = e; e = d + t1;
        d = c; c = b; b = a; a = t1 + s0 + maj;
    }
    out[i] = a ^ e;
}
