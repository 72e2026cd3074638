// Returns at three depths of nested conditions.
//
//! kernel early_return_levels
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void early_return_levels(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    out[i] = 1;
    if (v & 1) {
        out[i] = 2;
        if (v & 2) {
            if (v & 4) return;
            out[i] = v * 3;
        }
        if (v & 8) return;
        out[i] += v >> 4;
    }
    if (v % 3 == 0) return;
    out[i] ^= v;
}
