//! kernel a_bins16
//! const  n = 65536
//! grid   = 264
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[4 * n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void a_bins16(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x & 31; unsigned v = i;
    unsigned s = in[i & 65535];
#pragma unroll
    for (int j = 0; j < 16; j++) { atomicAdd(out + ((s >> (j & 7)) % 6), (int)(v + j)); }
}
