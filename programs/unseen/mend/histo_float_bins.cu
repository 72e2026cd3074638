// Histogram of a float transform, its bin found by a chain of comparisons.
//
//! kernel histo_float_bins
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void histo_float_bins(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = sqrtf((float)in[i]);
    int bin = v < 32.0f ? 0 : v < 64.0f ? 1 : v < 96.0f ? 2 : v < 128.0f ? 3 : v < 192.0f ? 4 : 5;
    atomicAdd(&out[bin], 1);
    atomicMax(&out[8 + bin], in[i]);
}
