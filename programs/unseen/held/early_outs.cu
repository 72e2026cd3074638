// early_outs: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel early_outs
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void early_outs(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = in[i];
    if (x < 1000) { out[i] = 1; return; }
    if ((x & 3) == 1) { out[i] = x; return; }
    int s = 0;
    for (int j = 0; j < (x & 31); j++) { s += in[(i + j) % n]; if (s > 400000) { out[i] = j; return; } }
    out[i] = s;
}
