// search_text: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel search_text
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void search_text(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int hits = 0;
    for (int j = 0; j < 8; j++) {
        unsigned p = (i * 8 + j) % (n - 4);
        int m = 0;
        while (m < 4 && (in[p + m] & 3) == (m ^ 1)) m++;
        if (m == 4) hits++;
    }
    out[i] = hits;
}
