// Division and remainder by constants: 3, 10, 1000, -7 and powers of two.
//
//! kernel divide_constants
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void divide_constants(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i] * 30011 - 983000000;
    unsigned u = v;
    out[i] = v / 3 + v % 10 + v / 1000 + v / -7 + v / 16 + v % 64
           + (int)(u / 3 + u % 10 + u / 641 + u / 16);
}
