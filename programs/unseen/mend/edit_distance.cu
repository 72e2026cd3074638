// edit_distance: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel edit_distance
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void edit_distance(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int row[9];
    for (int c = 0; c <= 8; c++) row[c] = c;
    for (int r = 1; r <= 8; r++) {
        int diag = row[0]; row[0] = r;
        for (int c = 1; c <= 8; c++) {
            int cost = ((in[(i + r) % n] ^ in[(i * 3 + c) % n]) & 3) != 0;
            int best = min(min(row[c], row[c - 1]) + 1, diag + cost);
            diag = row[c]; row[c] = best;
        }
    }
    out[i] = row[8];
}
