// Euler's totient of each element by trial division.
//
//! kernel totient_loop
//! const  n = 65536
//! grid   = 32
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void totient_loop(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i] % 2000 + 2, phi = v;
    for (unsigned p = 2; p * p <= v; p++) {
        if (v % p) continue;
        while (v % p == 0) v /= p;
        phi -= phi / p;
    }
    if (v > 1) phi -= phi / v;
    out[i] = phi;
}
