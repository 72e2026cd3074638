// divide_float: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel divide_float
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void divide_float(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = (float)in[i] + 0.5f, b = (float)(in[(i + 17) % n] & 511) - 200.25f;
    out[i] = __float_as_int(a / b + 1.0f / a);
}
