// Counts triangles of random graphs with 128 vertices by intersecting adjacency bitsets.
//
//! kernel gr_triangle_bitset
//! const  n = 65536
//! grid   = 128
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gr_triangle_bitset(const int *in, int *out, unsigned n) {
    __shared__ unsigned up[4][128];
    unsigned v = threadIdx.x, id = blockIdx.x * 128 + v;
    if (blockIdx.x * 512 + 512 > n)
        return;
    int4 q = reinterpret_cast<const int4 *>(in)[id];
    unsigned row[4] = {(unsigned)q.x, (unsigned)q.y, (unsigned)q.z, (unsigned)q.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        int s = (int)v - 32 * w;
        unsigned later = s < 0 ? ~0u : s > 31 ? 0u : ~0u << s << 1;
        row[w] &= later;
        up[w][v] = row[w];
    }
    __syncthreads();

    unsigned tri = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        unsigned bits = row[w];
        while (bits != 0) {
            unsigned j = 32 * w + __ffs(bits) - 1;
            bits &= bits - 1;
            tri += __popc(row[0] & up[0][j]) + __popc(row[1] & up[1][j]);
            tri += __popc(row[2] & up[2][j]) + __popc(row[3] & up[3][j]);
        }
    }
    out[id] = (int)tri;
    __syncwarp();
    unsigned sum = __reduce_add_sync(~0u, tri);
    if ((v & 31) == 0)
        atomicAdd(&out[n / 2 + blockIdx.x], (int)sum);
}
