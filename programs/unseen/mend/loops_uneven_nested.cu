// Loops with trips by lane inside loops with trips by lane.
//
//! kernel loops_uneven_nested
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void loops_uneven_nested(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = 0, a = v & 7;
    while (a > 0) {
        int b = v >> a & 7;
        do {
            r = r * 3 + b;
            if (r & 0x100) r ^= 0x55;
        } while (b-- > 0);
        a--;
    }
    out[i] = r;
}
