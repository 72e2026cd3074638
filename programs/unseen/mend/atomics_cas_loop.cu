// A maximum of packed pairs, built from a compare-and-swap loop.
//
//! kernel atomics_cas_loop
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void atomics_cas_loop(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned want = (unsigned)in[i] << 8 | (i & 255), *at = (unsigned *)&out[i & 1023], seen = *at;
    while (seen < want) {
        unsigned before = atomicCAS(at, seen, want);
        if (before == seen) break;
        seen = before;
    }
}
