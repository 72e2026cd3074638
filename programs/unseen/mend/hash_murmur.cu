// Murmur3 over five words with its finaliser.
//
//! kernel hash_murmur
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void hash_murmur(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, h = i;
    for (unsigned k = 0; k < 5; k++) {
        unsigned w = in[(i + k * 17) % n] * 0xcc9e2d51u;
        w = (w << 15 | w >> 17) * 0x1b873593u;
        h ^= w;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    h ^= 20;
    h ^= h >> 16; h *= 0x85ebca6bu;
    h ^= h >> 13; h *= 0xc2b2ae35u;
    h ^= h >> 16;
    out[i] = h;
}
