// Loads int4 as two doubles after masking and stores their sum and product.
//
//! kernel vector_double_pairs
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void vector_double_pairs(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = reinterpret_cast<const int4 *>(in)[i];
    double2 d = make_double2(v.x * 0.5 + v.y, v.z - v.w * 0.25);
    d = make_double2(d.x + d.y, d.x * d.y);
    reinterpret_cast<double2 *>(out)[i] = d;
}
