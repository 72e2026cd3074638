// Points in a quarter circle, drawn with xorshift32 per thread.
//
//! kernel monte_carlo_xorshift
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void monte_carlo_xorshift(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = in[i] * 2654435761u + 1u, hits = 0;
    for (int k = 0; k < 64; k++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float x = (s & 0xffff) * (1.0f / 65536.0f), y = (s >> 16) * (1.0f / 65536.0f);
        if (x * x + y * y < 1.0f) hits++;
    }
    out[i] = hits;
}
