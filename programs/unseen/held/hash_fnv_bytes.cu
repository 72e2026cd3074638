// FNV-1a over the sixteen bytes of four neighbours.
//
//! kernel hash_fnv_bytes
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void hash_fnv_bytes(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, h = 2166136261u;
    for (unsigned k = 0; k < 4; k++) {
        unsigned w = in[(i + k) % n];
        for (int b = 0; b < 4; b++) {
            h = (h ^ (w & 255)) * 16777619u;
            w >>= 8;
        }
    }
    out[i] = h;
}
