// Connected components of a block's random graph by label propagation.
//
//! kernel union_find_block
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void union_find_block(const int *in, int *out, unsigned n) {
    __shared__ int label[256], changed;
    int t = threadIdx.x, e = in[blockIdx.x * 256 + t] & 255;
    label[t] = t;
    do {
        __syncthreads();
        if (t == 0) changed = 0;
        __syncthreads();
        int m = min(label[t], label[e]);
        if (label[t] > m) { atomicMin(&label[t], m); changed = 1; }
        if (label[e] > m) { atomicMin(&label[e], m); changed = 1; }
        __syncthreads();
    } while (changed);
    out[blockIdx.x * 256 + t] = label[t];
}
