// WARPSYNC of some lanes inside of branches, votes and shuffles there.
//
//! kernel form_warpsync
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_warpsync(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int v = in[i], s = v;
    if (v & 1) {
        unsigned m = __activemask();
        unsigned odd = __ballot_sync(m, v & 2);
        if (v & 2) { __syncwarp(odd); s += __shfl_sync(odd, v, __ffs(odd) - 1); s += __reduce_add_sync(odd, v); }
        else { __syncwarp(m & ~odd); s ^= __popc(odd); }
        __syncwarp(m);
        s += __shfl_sync(m, s, __ffs(m) - 1);
    }
    __syncwarp();
    s += __shfl_xor_sync(~0u, s, 5) + __any_sync(~0u, v == 7) + 2 * __all_sync(~0u, v > 0) + __match_any_sync(~0u, v & 3);
    int p; unsigned m = __match_all_sync(~0u, v & 0x10000, &p);
    out[i] = s + p + m;
}
