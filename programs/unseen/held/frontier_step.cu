// frontier_step: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel frontier_step
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void frontier_step(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((in[i] & 15) == 0) {
        int degree = in[i] >> 4 & 7;
        for (int e = 0; e < degree; e++) {
            unsigned to = (i * 7 + e * 4099 + 1) % n;
            if (out[to] == 0) out[to] = 1;
        }
    }
}
