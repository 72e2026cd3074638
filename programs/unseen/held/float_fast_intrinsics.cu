// The fast intrinsics of sin, cos, exp, log, pow and division.
//
//! kernel float_fast_intrinsics
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_fast_intrinsics(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (float)in[i] * 1e-4f, y = (float)in[(i + 1) % n] * 1e-3f + 0.5f, s, c;
    __sincosf(x, &s, &c);
    float r = s + c + __expf(x) + __logf(y) + __powf(y, x) + __fdividef(x, y) + __tanf(x * 0.1f);
    out[i] = __float_as_int(r + __exp10f(x * 0.5f) + __log2f(y) + __saturatef(x));
}
