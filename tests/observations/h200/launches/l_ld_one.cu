//! kernel l_ld_one
//! const  n = 65536
//! grid   = 132
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void l_ld_one(const int *in, int *out, unsigned n) {
    volatile int a[64]; int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x & 31; unsigned z = n - 65536, s = z;
    if (l == 5) { for (int j = 0; j < 64; j++) a[j] = z; for (int j = 0; j < 256; j++) s = a[(j + s) & 63]; }
    out[i & 65535] = s;
}
