// Histogram of sixteen nibbles in a local array of bytes.
//
//! kernel bytes_histogram_local
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bytes_histogram_local(const int *in, int *out, unsigned n) {
    unsigned char count[16] = {};
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < 24; k++) count[in[(i + k * 101) % n] & 15]++;
    int best = 0;
    for (int k = 1; k < 16; k++)
        if (count[k] > count[best]) best = k;
    out[i] = best * 256 + count[best];
}
