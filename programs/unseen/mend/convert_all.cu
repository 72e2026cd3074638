// Conversions among integer and float types of all widths.
//
//! kernel convert_all
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void convert_all(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i] * 37 - 1000000;
    signed char c = (signed char)v;
    unsigned short s = (unsigned short)v;
    float f = (float)v + (float)c + (float)s + (float)(unsigned)v + (float)(long long)v * 3.0f;
    double d = (double)f * 1.5 + (double)(unsigned long long)(unsigned)v;
    long long l = (long long)d - (long long)f;
    unsigned char b = (unsigned char)fabsf(f * 1e-3f);
    short h = (short)(f * 1e-2f);
    out[i] = (int)l + (int)(l >> 32) + b + h + (int)(unsigned)fabs(d) + __float_as_int((float)l);
}
