// power_modulo: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel power_modulo
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void power_modulo(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long b = in[i] + 2, r = 1, m = 1000000007ull; unsigned e = i & 1023;
    while (e) { if (e & 1) r = r * b % m; b = b * b % m; e >>= 1; }
    out[i] = (int)r;
}
