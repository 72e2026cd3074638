// Harris's second reduction: interleaved addressing with a strided index (bank conflicts).
//
//! kernel reduce_strided_index
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void reduce_strided_index(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned k = 2 * d * t;
        if (k < blockDim.x) s[k] += s[k + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
