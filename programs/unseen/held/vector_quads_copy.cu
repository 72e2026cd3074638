// Copies int4 and adds the index to one component.
//
//! kernel vector_quads_copy
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void vector_quads_copy(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = reinterpret_cast<const int4 *>(in)[i];
    v.z += i;
    v.w ^= v.x;
    reinterpret_cast<int4 *>(out)[i] = v;
}
