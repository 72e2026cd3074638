// One-dimensional stencil of radius four with a shared halo.
//
//! kernel stencil_radius_four
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void stencil_radius_four(const int *in, int *out, unsigned n) {
    __shared__ int s[256 + 8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t + 4] = in[i];
    if (t < 4) {
        s[t] = i >= 4 ? in[i - 4] : 0;
        s[t + 260] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = -4; k <= 4; k++) sum += s[t + 4 + k];
    out[i] = sum;
}
