// Needleman-Wunsch score of two strings of 16, one pair per thread, with one row kept.
//
//! kernel align_needleman
//! const  n = 65536
//! grid   = 8
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void align_needleman(const int *in, int *out, unsigned n) {
    int row[17];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k <= 16; k++) row[k] = -2 * k;
    for (int y = 1; y <= 16; y++) {
        int diag = row[0];
        row[0] = -2 * y;
        int c = in[(i * 32 + y - 1) % n] & 3;
        for (int x = 1; x <= 16; x++) {
            int match = diag + (c == (in[(i * 32 + 15 + x) % n] & 3) ? 1 : -1);
            diag = row[x];
            row[x] = max(match, max(row[x], row[x - 1]) - 2);
        }
    }
    out[i] = row[16];
}
