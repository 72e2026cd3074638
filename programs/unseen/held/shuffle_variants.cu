// All four shuffles, with widths of 8 and 16.
//
//! kernel shuffle_variants
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void shuffle_variants(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    int r = __shfl_sync(0xffffffffu, v, v & 31) + __shfl_up_sync(0xffffffffu, v, 3, 8) * 3;
    r += __shfl_down_sync(0xffffffffu, v, 5, 16) * 5 + __shfl_xor_sync(0xffffffffu, v, 9) * 7;
    long long w = __shfl_xor_sync(0xffffffffu, (long long)v << 20 | i, 1);
    float f = __shfl_down_sync(0xffffffffu, (float)v, 2);
    out[i] = r ^ (int)w ^ (int)(w >> 32) ^ (int)f;
}
