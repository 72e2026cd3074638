// Forty live values under launch bounds that allow thirty-two registers.
//
//! kernel spill_pressure
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void __launch_bounds__(256, 8)
spill_pressure(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v[40], sum = 0;
#pragma unroll
    for (int k = 0; k < 40; k++) v[k] = in[(i + k * 37) & (n - 1)];
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int k = 0; k < 40; k++) v[k] = v[k] * 3 + (v[(k + 7 + r) % 40] ^ v[(k * 11 + 3) % 40]);
#pragma unroll
    for (int k = 0; k < 40; k++) sum = sum * 5 + v[k];
    out[i] = sum;
}
