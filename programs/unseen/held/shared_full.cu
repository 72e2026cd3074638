// Shared arrays of 48 KB: a block reverses and mixes 12,288 words.
//
//! kernel shared_full
//! const  n = 65536
//! grid   = 5
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void shared_full(const int *in, int *out, unsigned n) {
    __shared__ int s[12288];
    int t = threadIdx.x, base = blockIdx.x * 12288;
    for (int k = t; k < 12288; k += 256) s[k] = in[base + k];
    __syncthreads();
    for (int k = t; k < 12288; k += 256) out[base + k] = s[12287 - k] + s[(k * 5 + 1) % 12288];
}
