// NaN, infinity, denormal and signed zero through comparisons and minima.
//
//! kernel float_special_values
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_special_values(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bits = (unsigned)in[i] << 16 | in[(i + 1) % n];
    if ((i & 7) == 0) bits |= 0x7f800000u;
    if ((i & 7) == 1) bits &= 0x807fffffu;
    float a = __uint_as_float(bits), b = __int_as_float(in[i] * 65599);
    int r = isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * (int)signbit(a);
    r += 16 * (a < b) + 32 * !(a >= b) + 64 * (a != b) + 128 * (a == a);
    float m = fminf(a, b) + fmaxf(a, -b), q = a * 0.5f;
    out[i] = r + (isnan(m) ? 1000 : __float_as_int(m)) + (isnan(q) ? 7 : __float_as_int(q));
}
