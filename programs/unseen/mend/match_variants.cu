// match_any and match_all with their predicate.
//
//! kernel match_variants
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void match_variants(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i] & 7, p, q;
    unsigned m = __match_any_sync(0xffffffffu, v);
    unsigned a = __match_all_sync(0xffffffffu, v >> 3, &p);
    unsigned b = __match_all_sync(0xffffffffu, v, &q);
    out[i] = __popc(m) * 1000 + (__ffs(m) - 1) * 10 + p * 4 + q * 2 + (a == 0xffffffffu) + (b != 0);
}
