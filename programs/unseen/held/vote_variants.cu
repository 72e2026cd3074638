// ballot, any, all and uniform votes of full and partial masks.
//
//! kernel vote_variants
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void vote_variants(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i], r = 0;
    unsigned b = __ballot_sync(0xffffffffu, v & 4);
    r += __popc(b & ((1u << lane) - 1));
    r += 100 * __any_sync(0xffffffffu, v > 65000) + 1000 * __all_sync(0xffffffffu, v > 500);
    if (lane < 16) r ^= __ballot_sync(0x0000ffffu, v & 1);
    else r ^= __ballot_sync(0xffff0000u, v & 2);
    out[i] = r + __popc(__activemask());
}
