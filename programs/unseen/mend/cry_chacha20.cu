// ChaCha20 stream encryption with four lanes per block, diagonal rounds through shuffles.
//
//! kernel cry_chacha20
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ unsigned sigma[4] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
__constant__ unsigned ckey[8] = {0x03020100u, 0x07060504u, 0x0b0a0908u, 0x0f0e0d0cu,
                                 0x13121110u, 0x17161514u, 0x1b1a1918u, 0x1f1e1d1cu};
__constant__ unsigned nonce[4] = {1u, 0x09000000u, 0x4a000000u, 0u};

__device__ unsigned rotl(unsigned x, int s) {
    return __funnelshift_l(x, x, s);
}

__device__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
    a += b, d = rotl(d ^ a, 16);
    c += d, b = rotl(b ^ c, 12);
    a += b, d = rotl(d ^ a, 8);
    c += d, b = rotl(b ^ c, 7);
}

extern "C" __global__ void cry_chacha20(const int *in, int *out, unsigned n) {
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned q = id & 3, blk = id >> 2;
    unsigned a0 = sigma[q], b0 = ckey[q], c0 = ckey[4 + q];
    unsigned d0 = nonce[q] + (q == 0 ? blk : 0);
    unsigned a = a0, b = b0, c = c0, d = d0;
    for (int r = 0; r < 10; r++) {
        quarter(a, b, c, d);
        b = __shfl_sync(~0u, b, q + 1, 4);
        c = __shfl_sync(~0u, c, q + 2, 4);
        d = __shfl_sync(~0u, d, q + 3, 4);
        quarter(a, b, c, d);
        b = __shfl_sync(~0u, b, q + 3, 4);
        c = __shfl_sync(~0u, c, q + 2, 4);
        d = __shfl_sync(~0u, d, q + 1, 4);
    }
    unsigned at = blk * 16 + q;
    if (at + 12 >= n)
        return;
    out[at] = in[at] ^ (int)(a + a0);
    out[at + 4] = in[at + 4] ^ (int)(b + b0);
    out[at + 8] = in[at + 8] ^ (int)(c + c0);
    out[at + 12] = in[at + 12] ^ (int)(d + d0);
}
