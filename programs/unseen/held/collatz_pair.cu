// Collatz lengths of two neighbours, the longer of them.
//
//! kernel collatz_pair
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void collatz_pair(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0;
    for (int k = 0; k < 2; k++) {
        unsigned long long v = in[(i + k) % n] + 1;
        int steps = 0;
        while (v != 1 && steps < 150) {
            v = v & 1 ? 3 * v + 1 : v >> 1;
            steps++;
        }
        if (steps > best) best = steps;
    }
    out[i] = best;
}
