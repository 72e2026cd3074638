// vector_loads: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel vector_loads
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void vector_loads(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        int4 v = ((const int4 *)in)[i];
        v.x += v.w; v.y ^= v.z; v.z -= v.x; v.w *= 5;
        ((int4 *)out)[i] = v;
    }
}
