// Harris's sixth reduction: the block size is a template argument and every step is unrolled.
//
//! kernel reduce_template
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

template <unsigned N>
__device__ int reduce_block(int v, int *s) {
    unsigned t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    if (N >= 256) { if (t < 128) s[t] = v = v + s[t + 128]; __syncthreads(); }
    if (N >= 128) { if (t < 64) s[t] = v = v + s[t + 64]; __syncthreads(); }
    if (t < 32) {
        v += s[t + 32];
        for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    }
    return v;
}

extern "C" __global__ void reduce_template(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    unsigned i = blockIdx.x * 1024 + threadIdx.x;
    int v = in[i] + in[i + 256] + in[i + 512] + in[i + 768];
    v = reduce_block<256>(v, s);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
