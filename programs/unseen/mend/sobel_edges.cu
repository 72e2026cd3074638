// Sobel gradient magnitude of a 256 by 256 image, clamped at the border.
//
//! kernel sobel_edges
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sobel_edges(const int *in, int *out, unsigned n) {
    int x = threadIdx.x, y = blockIdx.x, p[3][3];
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) {
            int xx = min(max(x + dx - 1, 0), 255), yy = min(max(y + dy - 1, 0), 255);
            p[dy][dx] = in[yy * 256 + xx] & 255;
        }
    int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    int gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    out[y * 256 + x] = min((int)sqrtf((float)(gx * gx + gy * gy)), 255);
}
