// bit_tricks: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel bit_tricks
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bit_tricks(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i] * 2654435761u;
    x = __brev(x) ^ __popc(x) ^ (__clz(x) << 8) ^ __ffs(x);
    x = __byte_perm(x, i, 0x3715) + __funnelshift_l(x, i, 7);
    out[i] = x ^ __vadd4(x, i);
}
