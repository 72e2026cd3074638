// Follows sixteen links through the input, each load dependent on the last.
//
//! kernel linked_walk
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void linked_walk(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    int sum = 0;
    for (int k = 0; k < 16; k++) {
        at = (in[at] + k * 4097u) & (n - 1);
        sum += at & 255;
    }
    out[i] = sum;
}
