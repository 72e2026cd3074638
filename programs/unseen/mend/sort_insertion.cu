// sort_insertion: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel sort_insertion
//! const  n = 65536
//! grid   = 16
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_insertion(const int *in, int *out, unsigned n) {
    int a[16];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 16) return;
    for (int j = 0; j < 16; j++) a[j] = in[i * 16 + j];
    for (int j = 1; j < 16; j++) {
        int v = a[j], p = j - 1;
        while (p >= 0 && a[p] > v) { a[p + 1] = a[p]; p--; }
        a[p + 1] = v;
    }
    for (int j = 0; j < 16; j++) out[i * 16 + j] = a[j];
}
