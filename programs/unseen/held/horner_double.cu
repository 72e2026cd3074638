// horner_double: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel horner_double
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void horner_double(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = (double)in[i] / 65536.0, s = 0;
    for (int j = 12; j >= 0; j--) s = s * x + 1.0 / (j + 1);
    out[i] = (int)(s * 1000000.0);
}
