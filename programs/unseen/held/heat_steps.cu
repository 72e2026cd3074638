// Sixteen explicit heat steps on a ring of 256 float cells.
//
//! kernel heat_steps
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void heat_steps(const int *in, int *out, unsigned n) {
    __shared__ float u[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, p = 0;
    u[0][t] = (float)in[i] * (1.0f / 65536.0f);
    __syncthreads();
    for (int step = 0; step < 16; step++) {
        float l = u[p][(t + 255) & 255], c = u[p][t], r = u[p][(t + 1) & 255];
        u[p ^ 1][t] = c + 0.25f * (l - 2.0f * c + r);
        p ^= 1;
        __syncthreads();
    }
    out[i] = __float_as_int(u[p][t]);
}
