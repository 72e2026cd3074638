// LU factorisation of 8x8 matrices with row pivoting by tiles of eight lanes, one row each.
//
//! kernel num_lu_pivot
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void num_lu_pivot(const int *in, int *out, unsigned n) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const unsigned row = tile.thread_rank();
    const unsigned base = (blockIdx.x * blockDim.x + threadIdx.x) / 8 * 64;
    if (base + 63 >= n)
        return;
    const int4 *src = reinterpret_cast<const int4 *>(in + base + row * 8);
    const int4 u = src[0], v = src[1];
    const int raw[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
    float a[8];
#pragma unroll
    for (int k = 0; k < 8; ++k)
        a[k] = (float)(raw[k] >> 16) * (1.0f / 32768.0f);

    int place = -1; // the row's place in the permuted matrix
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        float most = place < 0 ? fabsf(a[k]) : -1.0f;
        unsigned who = row;
#pragma unroll
        for (int d = 4; d > 0; d >>= 1) {
            const float m = tile.shfl_xor(most, d);
            const unsigned w = tile.shfl_xor(who, d);
            if (m > most || (m == most && w < who))
                most = m, who = w;
        }
        if (row == who)
            place = k;
        const float pivot = tile.shfl(a[k], who);
        const float f = place < 0 && most > 0.0f ? a[k] / pivot : 0.0f;
#pragma unroll
        for (int j = k + 1; j < 8; ++j)
            a[j] = fmaf(-f, tile.shfl(a[j], who), a[j]);
        if (place < 0)
            a[k] = f;
    }
    int4 *dst = reinterpret_cast<int4 *>(out + base + place * 8);
    dst[0] = make_int4(__float_as_int(a[0]), __float_as_int(a[1]), __float_as_int(a[2]),
                       __float_as_int(a[3]));
    dst[1] = make_int4(__float_as_int(a[4]), __float_as_int(a[5]), __float_as_int(a[6]),
                       __float_as_int(a[7]));
}
