// __syncthreads_count, _and and _or.
//
//! kernel barrier_counting
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void barrier_counting(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    int c = __syncthreads_count(v & 1);
    int a = __syncthreads_and(v > 3);
    int o = __syncthreads_or(v > 65500);
    out[i] = c * 4 + (a != 0) * 2 + (o != 0);
}
