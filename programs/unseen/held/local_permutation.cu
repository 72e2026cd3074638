// Applies a permutation held in a local array until it returns to the start.
//
//! kernel local_permutation
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void local_permutation(const int *in, int *out, unsigned n) {
    int p[16];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = in[i];
    for (int k = 0; k < 16; k++) p[k] = k;
    for (int k = 15; k > 0; k--) {
        s = s * 1664525u + 1013904223u;
        int j = (s >> 16) % (k + 1), t = p[k];
        p[k] = p[j];
        p[j] = t;
    }
    int length = 0, at = 0;
    do {
        at = p[at];
        length++;
    } while (at != 0);
    out[i] = length;
}
