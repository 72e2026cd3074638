// Gathers through one permutation and scatters through another.
//
//! kernel gather_scatter
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gather_scatter(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned from = (i * 40503u + 12345u) & (n - 1), to = (i * 29573u + 77u) & (n - 1);
    out[to] = in[from] + in[(from ^ 64) & (n - 1)];
}
