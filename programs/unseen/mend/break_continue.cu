// break_continue: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel break_continue
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void break_continue(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i], r = 0;
    for (int a = 0; a < 16; a++) {
        if ((x >> a & 1) == 0) continue;
        for (int b = a; b < 16; b++) {
            r += a * b;
            if (x >> b & 2) break;
            if (r > 500) goto out_of_both;
        }
        r ^= a;
    }
out_of_both:
    out[i] = r;
}
