// Longest common subsequence of two strings of 32 by bit-parallel rows.
//
//! kernel lcs_bits
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void lcs_bits(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, row = 0xffffffffu;
    unsigned mask[4] = {0, 0, 0, 0};
    for (int k = 0; k < 32; k++) mask[in[(i + k) % n] & 3] |= 1u << k;
    for (int k = 0; k < 32; k++) {
        unsigned u = row & mask[in[(i * 3 + k) % n] & 3];
        row = (row + u) | (row - u);
    }
    out[i] = __popc(~row);
}
