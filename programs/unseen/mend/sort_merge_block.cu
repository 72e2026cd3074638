// Bottom-up merge sort of 64 elements per thread in shared memory.
//
//! kernel sort_merge_block
//! const  n = 65536
//! grid   = 16
//! block  = 64
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_merge_block(const int *in, int *out, unsigned n) {
    __shared__ int s[2][64 * 64];
    int t = threadIdx.x, p = 0;
    for (int k = 0; k < 64; k++) s[0][t * 64 + k] = in[blockIdx.x * 4096 + t * 64 + k];
    int *a = s[0] + t * 64, *b = s[1] + t * 64;
    for (int run = 1; run < 64; run *= 2) {
        for (int lo = 0; lo < 64; lo += 2 * run) {
            int l = lo, r = lo + run;
            for (int k = lo; k < lo + 2 * run; k++) {
                if (l < lo + run && (r >= lo + 2 * run || a[l] <= a[r])) b[k] = a[l++];
                else b[k] = a[r++];
            }
        }
        int *c = a; a = b; b = c;
        p ^= 1;
    }
    for (int k = 0; k < 64; k++) out[blockIdx.x * 4096 + t * 64 + k] = s[p][t * 64 + k];
}
