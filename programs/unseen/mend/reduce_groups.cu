// Sum over tiles of a cooperative group, then over the block.
//
//! kernel reduce_groups
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reduce_groups(const int *in, int *out, unsigned n) {
    __shared__ int part[16];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = v;
    block.sync();
    if (threadIdx.x < 16) {
        v = part[threadIdx.x];
        for (int d = 8; d > 0; d /= 2) v += tile.shfl_down(v, d);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}
