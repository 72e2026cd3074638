// Two functions that are not inlined, called on divergent sides and from a loop.
//
//! kernel calls_divergent
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ __noinline__ int mix(int a, int b) { return (a ^ b >> 3) * 31 + b; }
__device__ __noinline__ int fold(int a, int k) {
    for (int j = 0; j < (k & 3); j++) a = mix(a, j);
    return a;
}

extern "C" __global__ void calls_divergent(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = i;
    if (v & 1) r = mix(v, r); else r = fold(v, v >> 1);
    for (int k = 0; k < (v >> 3 & 3); k++) r = fold(r, k + v);
    out[i] = r;
}
