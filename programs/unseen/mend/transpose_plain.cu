// transpose_plain: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel transpose_plain
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void transpose_plain(const int *in, int *out, unsigned n) {
    unsigned x = (blockIdx.x & 15) * 16 + (threadIdx.x & 15), y = (blockIdx.x >> 4) * 16 + (threadIdx.x >> 4);
    out[x * 256 + y] = in[y * 256 + x];
}
