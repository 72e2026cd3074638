// search_binary: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel search_binary
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void search_binary(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lo = 0, hi = n, key = (unsigned)in[i] * 3u;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (mid * 3u + (mid & 7u) < key) lo = mid + 1; else hi = mid;
    }
    out[i] = lo;
}
