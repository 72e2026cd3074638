// clz, ffs, popc and brev in 32 and 64 bits.
//
//! kernel bits_count_scan
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bits_count_scan(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i] * 2654435761u;
    unsigned long long w = (unsigned long long)v * in[(i + 1) % n];
    int r = __clz(v) + 3 * __ffs(v) + 5 * __popc(v) + 7 * __clzll(w) + 11 * __ffsll(w);
    out[i] = r + 13 * __popcll(w) + (int)__brev(v) + (int)(__brevll(w) >> 17);
}
