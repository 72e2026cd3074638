// Descends an implicit binary search tree until the key is bracketed.
//
//! kernel binary_tree_search
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void binary_tree_search(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int key = in[i] & 8191, lo = 0, hi = 8192, steps = 0;
    while (hi - lo > 1) {
        int mid = (lo + hi) >> 1, node = (mid * 37 + in[mid] % 3) & 8191;
        steps++;
        if (node == key) break;
        if (mid <= key) lo = mid; else hi = mid;
    }
    out[i] = lo * 32 + steps;
}
