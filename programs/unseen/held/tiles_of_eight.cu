// tiles_of_eight: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel tiles_of_eight
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void tiles_of_eight(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = 4; d > 0; d >>= 1) v = max(v, __shfl_xor_sync(0xffffffffu, v, d, 8));
    if ((threadIdx.x & 7) == 0) out[i >> 3] = v;
}
