// half_warps_loop: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel half_warps_loop
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void half_warps_loop(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int trips = (threadIdx.x & 16) ? 4 : 40, x = in[i];
    for (int j = 0; j < trips; j++) x = x * 1103515245 + 12345;
    if ((threadIdx.x >> 5) & 1) for (int j = 0; j < 30; j++) x ^= x << 1;
    out[i] = x;
}
