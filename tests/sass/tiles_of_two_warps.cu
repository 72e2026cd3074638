// Groups of two warps of one block, whose exchanges go through the shared memory that the system
// reserves.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tilesOfTwoWarps(unsigned *out)
{
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    unsigned value = tile.meta_group_rank() * 1000 + tile.shfl(tile.thread_rank(), 37);
    out[block.thread_rank()] = value + (tile.any(threadIdx.x == 70) ? 5000 : 0);
}
