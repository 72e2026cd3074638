// Each thread heap-sorts sixteen elements of local memory.
//
//! kernel sort_heap
//! const  n = 65536
//! grid   = 16
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_heap(const int *in, int *out, unsigned n) {
    int a[16];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++) a[k] = in[i * 16 + k];
    for (int step = 7 + 15; step >= 0; step--) {
        int end = 16, root = step - 15;
        if (step < 15) {
            end = step + 1;
            int v = a[0]; a[0] = a[end]; a[end] = v;
            root = 0;
        }
        while (2 * root + 1 < end) {
            int child = 2 * root + 1;
            if (child + 1 < end && a[child + 1] > a[child]) child++;
            if (a[root] >= a[child]) break;
            int v = a[root]; a[root] = a[child]; a[child] = v;
            root = child;
        }
    }
    for (int k = 0; k < 16; k++) out[i * 16 + k] = a[k];
}
