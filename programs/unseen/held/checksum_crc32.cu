// CRC-32 of four words, bit by bit.
//
//! kernel checksum_crc32
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void checksum_crc32(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, crc = 0xffffffffu;
    for (unsigned k = 0; k < 4; k++) {
        crc ^= in[(i + k) % n];
        for (int b = 0; b < 32; b++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    out[i] = ~crc;
}
