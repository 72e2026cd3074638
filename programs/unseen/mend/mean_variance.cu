// Mean and variance of each block by Welford's pairwise combination in float.
//
//! kernel mean_variance
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void mean_variance(const int *in, int *out, unsigned n) {
    __shared__ float mean[256], m2[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    mean[t] = (float)(in[i] & 1023);
    m2[t] = 0.0f;
    __syncthreads();
    float count = 1.0f;
    for (unsigned d = 128; d > 0; d >>= 1) {
        if (t < d) {
            float delta = mean[t + d] - mean[t];
            mean[t] += delta * 0.5f;
            m2[t] += m2[t + d] + delta * delta * count * 0.5f;
        }
        count *= 2.0f;
        __syncthreads();
    }
    if (t == 0) {
        out[2 * blockIdx.x] = __float_as_int(mean[0]);
        out[2 * blockIdx.x + 1] = __float_as_int(m2[0] / 256.0f);
    }
}
