// Median of a 3 by 3 window by a fixed network of minima and maxima.
//
//! kernel median_filter
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ void order(int &a, int &b) {
    int lo = min(a, b);
    b = max(a, b);
    a = lo;
}

extern "C" __global__ void median_filter(const int *in, int *out, unsigned n) {
    int x = threadIdx.x, y = blockIdx.x, v[9];
    for (int k = 0; k < 9; k++)
        v[k] = in[((y + k / 3 + 255) & 255) * 256 + ((x + k % 3 + 255) & 255)];
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
    order(v[0], v[1]); order(v[3], v[4]); order(v[6], v[7]);
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
    order(v[0], v[3]); order(v[5], v[8]); order(v[4], v[7]);
    order(v[3], v[6]); order(v[1], v[4]); order(v[2], v[5]);
    order(v[4], v[7]); order(v[4], v[2]); order(v[6], v[4]);
    order(v[4], v[2]);
    out[y * 256 + x] = v[4];
}
