// convolve_constant: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel convolve_constant
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ int weights[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};
extern "C" __global__ void convolve_constant(const int *in, int *out, unsigned n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i & 255, y = i >> 8, sum = 0;
    for (int r = 0; r < 5; r++) for (int c = 0; c < 5; c++) {
        int yy = y + r - 2, xx = x + c - 2;
        if (yy >= 0 && yy < 256 && xx >= 0 && xx < 256) sum += weights[r * 5 + c] * in[yy * 256 + xx];
    }
    out[i] = sum;
}
