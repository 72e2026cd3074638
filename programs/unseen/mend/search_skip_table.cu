// Boyer-Moore-Horspool with the skip table in shared memory.
//
//! kernel search_skip_table
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void search_skip_table(const int *in, int *out, unsigned n) {
    __shared__ int skip[8];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 8) skip[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++) skip[k * 3 & 7] = 4 - k;
    __syncthreads();
    int found = 0;
    for (unsigned p = 0; p + 5 <= 96;) {
        int k = 4;
        while (k >= 0 && (in[(i + p + k) % n] & 7) == (k * 3 & 7)) k--;
        if (k < 0) found++;
        p += skip[in[(i + p + 4) % n] & 7];
    }
    out[i] = found;
}
