// Each thread sorts a private array of 24 elements by Shell's method.
//
//! kernel sort_shell
//! const  n = 65536
//! grid   = 8
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_shell(const int *in, int *out, unsigned n) {
    int a[24];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 24; k++) a[k] = in[(i * 24 + k) % n];
    for (int gap = 13; gap > 0; gap /= 3) {
        for (int k = gap; k < 24; k++) {
            int v = a[k], j = k;
            while (j >= gap && a[j - gap] > v) {
                a[j] = a[j - gap];
                j -= gap;
            }
            a[j] = v;
        }
    }
    for (int k = 0; k < 24; k++) out[i * 24 + k] = a[k];
}
