// nested_bits: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel nested_bits
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void nested_bits(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i], r = 0;
    if (x & 1) { r += 1; if (x & 2) { r *= 3; if (x & 4) { r ^= x; if (x & 8) r -= i; else r += i; } else r = r * r + x; } else { r = x >> 3; } }
    else { if (x & 16) { for (int j = 0; j < (x & 3); j++) r += j * x; } else if (x & 32) { r = in[(i + x) % n]; } else { out[i] = -x; return; } }
    out[i] = r;
}
