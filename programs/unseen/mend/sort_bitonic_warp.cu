// Bitonic sort of 32 elements in registers with shfl_xor.
//
//! kernel sort_bitonic_warp
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_bitonic_warp(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i];
    for (unsigned k = 2; k <= 32; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            int o = __shfl_xor_sync(0xffffffffu, v, j);
            bool up = (lane & k) == 0, low = (lane & j) == 0;
            v = (up == low) ? min(v, o) : max(v, o);
        }
    }
    out[i] = v;
}
