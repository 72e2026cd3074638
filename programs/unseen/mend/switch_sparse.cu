// A sparse switch: a tree of comparisons.
//
//! kernel switch_sparse
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void switch_sparse(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = v;
    switch (v % 1000) {
    case 3: case 500: r = v * 7; break;
    case 17: r ^= 255; break;
    case 200: r = -v; break;
    case 999: r = 1; break;
    default: if (v % 1000 > 600) r = v / 5;
    }
    switch (v & 0xf0) {
    case 0x10: r += 3; break;
    case 0x80: r *= 5; break;
    case 0xf0: r -= 9;
    }
    out[i] = r;
}
