// Polyphase resampler by 5/3 with 12 taps a phase; the phase picks its row of a constant table.
//
//! kernel sig_polyphase
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ int taps[60] = {
    -77, 217, -524, 1139, -2709, 32250, 3400, -1332, 615, -262, 95, -44,
    -165, 467, -1166, 2561, -5821, 28044, 11708, -4102, 1884, -826, 307, -123,
    -172, 470, -1218, 2718, -6007, 20593, 20593, -6007, 2718, -1218, 470, -172,
    -123, 307, -826, 1884, -4102, 11708, 28044, -5821, 2561, -1166, 467, -165,
    -44, 95, -262, 615, -1332, 3400, 32250, -2709, 1139, -524, 217, -77,
};

extern "C" __global__ void sig_polyphase(const int *in, int *out, unsigned n) {
    __shared__ int x[168];
    const unsigned first = blockIdx.x * 256 * 3 / 5;
    for (unsigned k = threadIdx.x; k < 168; k += 256)
        x[k] = in[min(first + k, n - 1)] >> 12;
    __syncthreads();

    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    const unsigned place = i * 3 / 5 - first, phase = i * 3 % 5;
    long long acc = 1 << 14;
#pragma unroll
    for (int j = 0; j < 12; ++j)
        acc += (long long)taps[phase * 12 + j] * x[place + j];
    const long long y = acc >> 15;
    out[i] = y > 524287 ? 524287 : y < -524288 ? -524288 : (int)y;
}
