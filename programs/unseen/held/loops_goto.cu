// Nested loops left with goto, continue and break.
//
//! kernel loops_goto
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void loops_goto(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = 0;
again:
    for (int a = 0; a < 8; a++) {
        if ((v >> a & 1) == 0) continue;
        for (int b = 0; b < 8; b++) {
            if ((v >> (b + 4) & 3) == 3) break;
            r += a ^ b;
            if (r > 90) goto done;
        }
    }
    v >>= 3;
    if (v > 7) goto again;
done:
    out[i] = r * 16 + (v & 15);
}
