// Walsh-Hadamard transform of 32 values with shuffles.
//
//! kernel fft_warp_hadamard
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void fft_warp_hadamard(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i] & 1023;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_xor_sync(0xffffffffu, v, d);
        v = lane & d ? o - v : v + o;
    }
    out[i] = v;
}
