// ackermann: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel ackermann
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ __noinline__ int ack(int m, int k) { if (m == 0) return k + 1; if (k == 0) return ack(m - 1, 1); return ack(m - 1, ack(m, k - 1)); }
extern "C" __global__ void ackermann(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ack(in[i] & 1, in[i] >> 1 & 7);
}
