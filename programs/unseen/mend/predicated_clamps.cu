// Short conditions that compilers predicate or select.
//
//! kernel predicated_clamps
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void predicated_clamps(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = v;
    if (v & 1) r += 3;
    if (v & 2) r -= i;
    r = v & 4 ? r * 2 : r + 1;
    r = r < 0 ? 0 : r > 50000 ? 50000 : r;
    bool p = v > 100 && v < 60000 && (v & 0x30) != 0x10;
    bool q = v % 5 == 1 || (v > 30000 && i & 1) || r == 7;
    out[i] = r + p * 2 + q;
}
