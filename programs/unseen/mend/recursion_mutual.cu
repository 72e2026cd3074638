// Mutually recursive even and odd functions of depth up to 15.
//
//! kernel recursion_mutual
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ int odd_steps(int v, int acc);
__device__ __noinline__ int even_steps(int v, int acc) {
    return v <= 0 ? acc : odd_steps(v - 1, acc * 3 + v);
}
__device__ __noinline__ int odd_steps(int v, int acc) {
    return v <= 0 ? ~acc : even_steps(v - 1, acc ^ v);
}

extern "C" __global__ void recursion_mutual(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = even_steps(in[i] & 15, 1) + odd_steps(in[i] >> 4 & 7, 2);
}
