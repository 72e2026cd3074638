// Float additions of small integers, exact in any order, global and shared.
//
//! kernel atomics_float
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void atomics_float(const int *in, int *out, unsigned n) {
    __shared__ float s[8];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 8) s[t] = 0.0f;
    __syncthreads();
    atomicAdd(&s[t & 7], (float)(in[i] & 15));
    __syncthreads();
    if (t < 8) atomicAdd((float *)&out[t], s[t]);
    atomicAdd((float *)&out[16 + (in[i] & 63)], 0.5f);
}
