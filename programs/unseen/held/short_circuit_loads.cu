// && and || whose right sides load from memory.
//
//! kernel short_circuit_loads
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void short_circuit_loads(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned a = (i + k * 4099) % n;
        if (in[a] > 30000 && in[(a + 1) % n] > 30000 && in[(a + 2) % n] > 30000) r += 1;
        if (in[a] < 1000 || in[(a + 3) % n] < 20000 || in[(a + 5) % n] & 1) r += 16;
    }
    out[i] = r;
}
