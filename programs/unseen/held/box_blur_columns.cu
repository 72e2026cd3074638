// Running column sums of a 256 by 256 image, one column per thread.
//
//! kernel box_blur_columns
//! const  n = 65536
//! grid   = 1
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void box_blur_columns(const int *in, int *out, unsigned n) {
    int x = threadIdx.x, sum = 0;
    for (int y = 0; y < 8; y++) sum += in[y * 256 + x];
    for (int y = 8; y < 256; y++) {
        out[(y - 8) * 256 + x] = sum >> 3;
        sum += in[y * 256 + x] - in[(y - 8) * 256 + x];
    }
}
