// Iterations of a Julia set, with an early break and smooth counting.
//
//! kernel julia_iterations
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void julia_iterations(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (int)(i & 255) * 0.0125f - 1.6f, y = (int)(i >> 8) * 0.01f - 1.28f;
    int k = 0;
    while (k < 100) {
        float x2 = x * x, y2 = y * y;
        if (x2 + y2 > 4.0f) break;
        y = 2.0f * x * y + 0.156f;
        x = x2 - y2 - 0.8f;
        k++;
    }
    out[i] = k * 256 + (in[i] & 255);
}
