// Bilateral 5x5 filter of a 256x256 grey image: 16x16 tiles with a halo in shared memory.
//
//! kernel im_bilateral
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void im_bilateral(const int *in, int *out, unsigned n) {
    __shared__ float tile[20][20];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int bx = (blockIdx.x & 15) * 16, by = (blockIdx.x >> 4) * 16;
    for (int k = threadIdx.x; k < 400; k += 256) {
        const int x = min(max(bx + k % 20 - 2, 0), 255);
        const int y = min(max(by + k / 20 - 2, 0), 255);
        tile[k / 20][k % 20] = (float)((unsigned)in[y * 256 + x] >> 24);
    }
    __syncthreads();

    const float centre = tile[ty + 2][tx + 2];
    float sum = 0.0f, norm = 0.0f;
#pragma unroll
    for (int dy = -2; dy <= 2; ++dy) {
#pragma unroll
        for (int dx = -2; dx <= 2; ++dx) {
            const float v = tile[ty + 2 + dy][tx + 2 + dx];
            const float d = v - centre;
            const float w = expf(-d * d * (1.0f / 1800.0f) - (float)(dx * dx + dy * dy) * 0.22f);
            sum = fmaf(w, v, sum);
            norm += w;
        }
    }
    const unsigned at = (by + ty) * 256 + bx + tx;
    if (at < n)
        out[at] = __float2int_rn(16.0f * sum / norm);
}
