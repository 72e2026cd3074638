// Modular exponentiation with a 64-bit product per step.
//
//! kernel power_modular_64
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void power_modular_64(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long base = in[i] + 2, r = 1, m = 1000003;
    unsigned e = in[(i + 9) % n];
    while (e) {
        if (e & 1) r = r * base % m;
        base = base * base % m;
        e >>= 1;
    }
    out[i] = (int)r;
}
