// Double-buffered tiles with one barrier per step.
//
//! kernel barrier_pipeline
//! const  n = 65536
//! grid   = 16
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void barrier_pipeline(const int *in, int *out, unsigned n) {
    __shared__ int buf[2][256];
    int t = threadIdx.x, base = blockIdx.x * 4096, sum = 0;
    buf[0][t] = in[base + t];
    for (int k = 0; k < 16; k++) {
        __syncthreads();
        if (k < 15) buf[(k + 1) & 1][t] = in[base + (k + 1) * 256 + t];
        sum = sum * 3 + buf[k & 1][t ^ k] + buf[k & 1][255 - t];
    }
    out[blockIdx.x * 256 + t] = sum;
}
