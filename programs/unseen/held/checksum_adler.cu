// Adler-32 of 32 neighbouring bytes, with a modulo by a constant.
//
//! kernel checksum_adler
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void checksum_adler(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = 1, b = 0;
    for (unsigned k = 0; k < 32; k++) {
        a = (a + (in[(i + k) % n] & 255)) % 65521;
        b = (b + a) % 65521;
    }
    out[i] = b << 16 | a;
}
