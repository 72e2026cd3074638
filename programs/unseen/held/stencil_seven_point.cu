// Seven-point stencil over a 32 by 32 by 64 volume.
//
//! kernel stencil_seven_point
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void stencil_seven_point(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i & 31, y = i >> 5 & 31, z = i >> 10;
    int c = in[i];
    if (x > 0 && x < 31 && y > 0 && y < 31 && z > 0 && z < 63)
        c = in[i - 1] + in[i + 1] + in[i - 32] + in[i + 32] + in[i - 1024] + in[i + 1024] - 6 * c;
    out[i] = c;
}
