// Index of the largest element of each block, ties to the smaller index.
//
//! kernel argmax_block
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void argmax_block(const int *in, int *out, unsigned n) {
    __shared__ int val[256], pos[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    val[t] = in[i];
    pos[t] = i;
    __syncthreads();
    for (unsigned d = 128; d > 0; d >>= 1) {
        if (t < d && (val[t + d] > val[t] || (val[t + d] == val[t] && pos[t + d] < pos[t]))) {
            val[t] = val[t + d];
            pos[t] = pos[t + d];
        }
        __syncthreads();
    }
    if (t == 0) { out[2 * blockIdx.x] = val[0]; out[2 * blockIdx.x + 1] = pos[0]; }
}
