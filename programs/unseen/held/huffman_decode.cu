// Decodes a stream of variable-length codes from the bits of two words.
//
//! kernel huffman_decode
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void huffman_decode(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long bits = (unsigned long long)(in[i] * 65537u) << 32 | in[(i + 1) % n] * 65537u;
    int left = 64, r = 0;
    while (left >= 4) {
        int length = 1, symbol = 0;
        while (length < 4 && (bits >> (left - length) & 1)) { length++; symbol++; }
        if (symbol == 3) symbol += (int)(bits >> (left - 4) & 1);
        r = r * 5 + symbol;
        left -= length;
    }
    out[i] = r;
}
