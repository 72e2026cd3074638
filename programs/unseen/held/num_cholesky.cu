// Cholesky factorisation and solution of one 6x6 positive definite system per thread.
//
//! kernel num_cholesky
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void num_cholesky(const int *in, int *out, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 8 + 7 >= n)
        return;
    const int4 *src = reinterpret_cast<const int4 *>(in) + i * 2;
    const int4 p = src[0], q = src[1];
    const int raw[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
    float v[16];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        v[2 * k] = (float)(raw[k] >> 16) * (1.0f / 32768.0f);
        v[2 * k + 1] = (float)(short)(raw[k] & 0xffff) * (1.0f / 32768.0f);
    }

    float a[6][6], x[6], logdet = 0.0f;
#pragma unroll
    for (int r = 0; r < 6; ++r) {
#pragma unroll
        for (int c = 0; c <= r; ++c) {
            float s = c == r ? 6.5f + 0.25f * v[15] + 0.1f * (float)r : v[r * (r - 1) / 2 + c];
#pragma unroll
            for (int k = 0; k < c; ++k)
                s -= a[r][k] * a[c][k];
            a[r][c] = c == r ? rsqrtf(s) : s * a[c][c]; // the diagonal is kept inverted
        }
        logdet -= 2.0f * logf(a[r][r]);
        x[r] = v[r];
#pragma unroll
        for (int c = 0; c < r; ++c)
            x[r] -= a[r][c] * x[c];
        x[r] *= a[r][r];
    }
#pragma unroll
    for (int r = 5; r >= 0; --r) {
#pragma unroll
        for (int c = r + 1; c < 6; ++c)
            x[r] -= a[c][r] * x[c];
        x[r] *= a[r][r];
    }
    int4 *dst = reinterpret_cast<int4 *>(out) + i * 2;
    dst[0] = make_int4(__float_as_int(x[0]), __float_as_int(x[1]), __float_as_int(x[2]),
                       __float_as_int(x[3]));
    dst[1] = make_int4(__float_as_int(x[4]), __float_as_int(x[5]), __float_as_int(logdet), i);
}
