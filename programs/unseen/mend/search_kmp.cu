// Knuth-Morris-Pratt over 64 symbols per thread with a constant failure table.
//
//! kernel search_kmp
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ int pattern[6] = {0, 1, 0, 0, 1, 1};
__constant__ int failure[7] = {-1, 0, 0, 1, 1, 2, 0};

extern "C" __global__ void search_kmp(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int state = 0, found = 0;
    for (unsigned k = 0; k < 64; k++) {
        int c = in[(i * 4 + k) % n] & 1;
        while (state >= 0 && (state == 6 || pattern[state] != c)) state = failure[state];
        state++;
        if (state == 6) found++;
    }
    out[i] = found;
}
