// Two halves of a warp work apart, each with its own partial __syncwarp.
//
//! kernel syncwarp_halves
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void syncwarp_halves(const int *in, int *out, unsigned n) {
    __shared__ int s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t & 31;
    s[t] = in[i];
    int v;
    if (lane < 16) {
        __syncwarp(0x0000ffffu);
        v = s[t ^ 1] * 3;
        for (int k = 0; k < 3; k++) v += s[(t & ~15u) + ((t + k) & 15)];
        __syncwarp(0x0000ffffu);
        s[t] = v;
    } else {
        __syncwarp(0xffff0000u);
        v = s[t ^ 2] - 5;
        __syncwarp(0xffff0000u);
        s[t] = v ^ lane;
    }
    __syncwarp();
    out[i] = s[t ^ 16] + v;
}
