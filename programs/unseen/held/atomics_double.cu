// Double additions of halves, exact in any order.
//
//! kernel atomics_double
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void atomics_double(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double *o = (double *)out;
    atomicAdd(&o[in[i] & 127], (double)(in[i] >> 8) * 0.5);
}
