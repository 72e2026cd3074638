// Double comparisons, minima, rounding and conversions from and to integers.
//
//! kernel double_compare_convert
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void double_compare_convert(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[i] * 1.25 - 40000.0, b = (double)((long long)in[(i + 1) % n] << 20);
    long long l = (long long)(a * b) + (long long)floor(a) + llrint(b * 1e-7);
    int r = (a < b) + 2 * (a >= -b) + (int)ceil(a * 0.1);
    r += (int)fmin(a, b * 1e-6) + (int)fmax(a, -5.0);
    r ^= (int)(unsigned)fabs(a) ^ __double2hiint(a) ^ __double2loint(b) ^ __float_as_int((float)a);
    out[i] = r ^ (int)l ^ (int)(l >> 32);
}
