// Reductions of a warp by one instruction.
//
//! kernel form_redux
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_redux(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int v = in[i] - 30000; unsigned u = in[i];
    int s = __reduce_add_sync(~0u, v); s = s * 3 + __reduce_max_sync(~0u, v); s = s * 3 + __reduce_min_sync(~0u, v);
    s = s * 3 + __reduce_max_sync(~0u, u); s = s * 3 + __reduce_min_sync(~0u, u);
    s = s * 3 + __reduce_and_sync(~0u, u | 0xff00); s = s * 3 + __reduce_or_sync(~0u, u & 0xff00f); s = s * 3 + __reduce_xor_sync(~0u, u);
    if (t & 1) s = s * 3 + __reduce_add_sync(0xaaaaaaaa, u);
    unsigned leader;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(leader));
    out[i] = s + leader * 1000003;
}
