// norm_float: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel norm_float
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void norm_float(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (float)in[i], y = (float)in[(i + 1) % n], z = (float)in[(i + 2) % n];
    float l = sqrtf(fmaf(z, z, fmaf(y, y, x * x)));
    out[i] = __float_as_int(l > 0 ? x / l : 0.0f);
}
