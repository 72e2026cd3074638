// A block publishes a value with a fence; its own later threads read it back.
//
//! kernel fence_publish
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void fence_publish(const int *in, int *out, unsigned n) {
    __shared__ volatile int ready;
    unsigned t = threadIdx.x, base = blockIdx.x * 256;
    volatile int *o = out;
    if (t == 0) ready = 0;
    __syncthreads();
    o[base + t] = in[base + t] * 3;
    __threadfence();
    if (t == 7) ready = 1;
    __syncthreads();
    int v = o[base + (t ^ 33)] + ready;
    __threadfence_block();
    __syncthreads();
    o[base + t] = v;
}
