// Counts the occurrences of a four-letter pattern that start at each position.
//
//! kernel search_naive
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void search_naive(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int found = 0;
    for (unsigned start = i; start < i + 32 && start + 4 < n; start++) {
        int k = 0;
        while (k < 4 && (in[start + k] & 1) == (0x6 >> k & 1)) k++;
        if (k == 4) found++;
    }
    out[i] = found;
}
