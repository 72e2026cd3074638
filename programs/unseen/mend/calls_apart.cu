// calls_apart: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel calls_apart
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ __noinline__ int twist(int x, int k) { for (int j = 0; j < k; j++) x = (x << 3) ^ (x >> 2) ^ j; return x; }
__device__ __noinline__ int bend(int x) { return x % 97 > 48 ? x * 3 : x - 7; }
extern "C" __global__ void calls_apart(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i], r;
    if (x & 1) r = twist(x, 3); else r = twist(x + 1, 5) + bend(x);
    out[i] = r + bend(r);
}
