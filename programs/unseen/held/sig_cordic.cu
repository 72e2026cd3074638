// CORDIC in fixed point: two bits of each value choose rotation, vectoring, division or a root.
//
//! kernel sig_cordic
//! const  n = 65536
//! grid   = 128
//! block  = 512
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ int angle[24] = {
    210828714, 124459457, 65760959, 33381290, 16755422, 8385879, 4193963, 2097109,
    1048571, 524287, 262144, 131072, 65536, 32768, 16384, 8192,
    4096, 2048, 1024, 512, 256, 128, 64, 32,
};

extern "C" __global__ void sig_cordic(const int *in, int *out, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned v = (unsigned)in[i], u = v & 0x3fffffff;
    const int other = in[(i + 1) % n] >> 4;
    int x, y, z, res;
    switch (v >> 30) {
    case 0: // sine and cosine of an angle
        x = 163008218, y = 0, z = (int)u - 0x20000000;
        z -= z >> 2;
        for (int k = 0; k < 24; ++k) {
            const int sign = z >> 31, dx = y >> k, dy = x >> k;
            x -= (dx ^ sign) - sign;
            y += (dy ^ sign) - sign;
            z -= (angle[k] ^ sign) - sign;
        }
        res = (x >> 13 & 0xffff) | (int)((unsigned)(y >> 13) << 16);
        break;
    case 1: // angle of a vector
        x = 1 << 27 | (u & 0x7ffffff), y = other, z = 0;
        for (int k = 0; k < 24; ++k) {
            const int sign = ~y >> 31, dx = y >> k, dy = x >> k;
            x -= (dx ^ sign) - sign;
            y += (dy ^ sign) - sign;
            z -= (angle[k] ^ sign) - sign;
        }
        res = z;
        break;
    case 2: // quotient
        x = 1 << 28 | (u & 0xfffffff), y = other, z = 0;
        for (int k = 1; k < 28; ++k) {
            const bool over = y >= 0;
            y += over ? -(x >> k) : x >> k;
            z += over ? 1 << (28 - k) : -(1 << (28 - k));
        }
        res = z;
        break;
    default: { // integer square root
        unsigned root = 0, rest = u;
        for (unsigned bit = 1u << 28; bit; bit >>= 2) {
            const bool take = rest >= root + bit;
            rest -= take ? root + bit : 0;
            root = (root >> 1) + (take ? bit : 0);
        }
        res = (int)root;
    }
    }
    out[i] = res;
}
