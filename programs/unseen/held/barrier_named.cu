// Producer warps and consumer warps meet at a named barrier.
//
//! kernel barrier_named
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void barrier_named(const int *in, int *out, unsigned n) {
    __shared__ int s[128];
    unsigned t = threadIdx.x, base = blockIdx.x * 256;
    if (t < 128) {
        s[t] = in[base + t] + in[base + 128 + t];
        asm volatile("bar.arrive 1, 256;" ::: "memory");
        out[base + t] = (int)t;
    } else {
        asm volatile("bar.sync 1, 256;" ::: "memory");
        out[base + t] = s[t - 128] * 2 + s[(t + 1) & 127];
    }
}
