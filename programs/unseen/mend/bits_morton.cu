// Interleaves the bytes of an element to a Morton code and back.
//
//! kernel bits_morton
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bits_morton(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    unsigned x = v & 255, y = v >> 8 & 255;
    x = (x | x << 4) & 0x0f0f; x = (x | x << 2) & 0x3333; x = (x | x << 1) & 0x5555;
    y = (y | y << 4) & 0x0f0f; y = (y | y << 2) & 0x3333; y = (y | y << 1) & 0x5555;
    unsigned m = x | y << 1, z = m & 0x5555;
    z = (z | z >> 1) & 0x3333; z = (z | z >> 2) & 0x0f0f; z = (z | z >> 4) & 0x00ff;
    out[i] = m << 8 | z;
}
