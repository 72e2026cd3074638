// sinf, cosf and tanf in full accuracy, with some large arguments.
//
//! kernel float_trigonometry
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_trigonometry(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = ((float)in[i] - 32768.0f) * ((i & 63) == 0 ? 1000.0f : 0.01f);
    out[i] = __float_as_int(sinf(x) + 2.0f * cosf(x) + tanf(x * 0.5f));
}
