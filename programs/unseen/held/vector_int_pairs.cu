// Loads int2, stores int2 with the halves exchanged and summed.
//
//! kernel vector_int_pairs
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void vector_int_pairs(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int2 v = reinterpret_cast<const int2 *>(in)[i];
    int t = v.x;
    v.x = v.y + t;
    v.y = t - v.y;
    reinterpret_cast<int2 *>(out)[i] = v;
}
