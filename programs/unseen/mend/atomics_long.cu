// 64-bit atomics on global memory: add, max, or and compare-and-swap.
//
//! kernel atomics_long
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void atomics_long(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long *o = (unsigned long long *)out, v = (unsigned long long)in[i] << 20 | i;
    atomicAdd(&o[i & 15], v);
    atomicMax(&o[16 + (i & 15)], v);
    atomicOr(&o[32 + (i & 15)], 1ull << (v & 63));
    atomicCAS(&o[64 + i / 4], 0ull, 5ull);
    if (threadIdx.x == 0) atomicExch(&o[30000], 9ull);
}
