// Cooperative groups and warp-synchronous code that came after the rules of meetings.cu. Of them only
// the branch targets of a WARPSYNC.EXCLUSIVE with one mask follow from it. Recorded as meetings.cu.
//
//! const  n = 4096
//! grid   = 4
//! block  = 64
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, unsigned n)
#define THREAD unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int v = in[i]
#define OUT(k, value) out[8 * i + (k)] = (int)(value)

KERNEL(coalesced_sum) {
    THREAD;
    if (v % 3) {
        auto g = cg::coalesced_threads();
        OUT(0, g.size());
        OUT(1, g.thread_rank());
        OUT(2, cg::reduce(g, v, cg::plus<int>()));
        OUT(3, g.shfl(v, 0));
        OUT(4, g.shfl_down(v, 1));
        OUT(5, g.ballot(v & 1));
    }
    OUT(7, n);
}

KERNEL(labeled_sum) {
    THREAD;
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    auto g = cg::labeled_partition(w, v % 4);
    OUT(0, g.size());
    OUT(1, cg::reduce(g, v, cg::greater<int>()));
    OUT(2, g.shfl(v, g.size() - 1));
    OUT(3, g.any(v % 7 == 0));
    OUT(4, g.match_any(v & 1));
    OUT(5, g.meta_group_rank());
}

KERNEL(binary_sum) {
    THREAD;
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    auto g = cg::binary_partition(w, v % 5 < 2);
    OUT(0, g.size());
    OUT(1, cg::reduce(g, v, cg::bit_xor<int>()));
    if (v % 5 < 2) OUT(2, cg::inclusive_scan(g, v));
    else OUT(3, cg::exclusive_scan(g, v));
}

KERNEL(tiles_of_four) {
    THREAD;
    auto g = cg::tiled_partition<4>(cg::this_thread_block());
    if (v & 1) {
        OUT(0, g.thread_rank());
    }
    g.sync();
    OUT(1, g.shfl_xor(v, 1));
    OUT(2, cg::reduce(g, v, cg::plus<int>()));
    OUT(3, cg::inclusive_scan(g, v, cg::plus<int>()));
    int all_match;
    unsigned same = g.match_all(v & 1, all_match);
    OUT(4, same + all_match);
}

KERNEL(tiles_in_branch) {
    THREAD;
    auto g = cg::tiled_partition<8>(cg::this_thread_block());
    if (g.meta_group_rank() & 1) {
        OUT(0, cg::reduce(g, v, cg::less<int>()));
        OUT(1, g.ballot(v & 2));
    } else {
        OUT(2, cg::reduce(g, v, cg::plus<int>()));
        OUT(3, g.shfl(v, 3));
    }
    OUT(5, 1);
}

KERNEL(aggregated_atomic) {
    THREAD;
    __shared__ int c[4];
    if (threadIdx.x < 4) c[threadIdx.x] = 0;
    __syncthreads();
    int b = v & 3;
    unsigned m = __match_any_sync(~0u, b);
    int leader = __ffs(m) - 1, rank = __popc(m & ((1u << (threadIdx.x & 31)) - 1)), base = 0;
    if ((threadIdx.x & 31) == leader) base = atomicAdd(&c[b], __popc(m));
    base = __shfl_sync(m, base, leader);
    __syncthreads();
    OUT(0, c[b]);
    OUT(1, base >= 0);
    OUT(2, rank);
}

KERNEL(loop_until_done) {
    THREAD;
    int w = v, r = 0;
    unsigned active = __ballot_sync(~0u, w > 100);
    while (w > 100) {
        w = w / 3 + (w & 3);
        r += __popc(__ballot_sync(active, w & 1));
        active = __ballot_sync(active, w > 100);
    }
    OUT(0, w);
    OUT(1, r);
    OUT(2, active);
}

KERNEL(segmented_scan) {
    THREAD;
    unsigned lane = threadIdx.x & 31, heads = __ballot_sync(~0u, v % 6 == 0) | 1u;
    unsigned below = heads & (0xffffffffu >> (31 - lane));
    int first = 31 - __clz(below);
    int s = v;
    for (int d = 1; d < 32; d *= 2) {
        int t = __shfl_up_sync(~0u, s, d);
        if ((int)lane - d >= first) s += t;
    }
    OUT(0, s);
    OUT(1, first);
}

KERNEL(reduce_in_loop) {
    THREAD;
    int s = 0;
    for (int k = 0; k < (v & 3) + 1; k++) {
        unsigned a = __activemask();
        s += __reduce_add_sync(a, v >> k);
        if (s & 1) s += __shfl_sync(a, v, __ffs(a) - 1);
    }
    OUT(0, s);
}

KERNEL(elect_one) {
    THREAD;
    auto g = cg::coalesced_threads();
    if (v & 4) {
        auto h = cg::coalesced_threads();
        int x = 0;
        if (h.thread_rank() == 0) x = v;
        x = h.shfl(x, 0);
        OUT(0, x);
        auto t = cg::tiled_partition(h, 4);
        OUT(1, t.size());
        OUT(2, cg::reduce(t, v, cg::plus<int>()));
    }
    OUT(3, g.size());
}

__device__ __noinline__ int helper(unsigned mask, int v, int k) {
    return __reduce_max_sync(mask, v) + __shfl_sync(mask, v, k);
}

KERNEL(in_a_function) {
    THREAD;
    unsigned m = __match_any_sync(~0u, v % 3);
    OUT(0, helper(m, v, __ffs(m) - 1));
    if (v & 1) {
        unsigned a = __ballot_sync(__activemask(), 1);
        OUT(1, helper(a, v + 1, __ffs(a) - 1));
    }
    OUT(2, helper(~0u, v, 7));
}

KERNEL(nested_partitions) {
    THREAD;
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    if (w.thread_rank() < 24) {
        auto g = cg::coalesced_threads();
        auto h = cg::labeled_partition(g, v % 2);
        auto q = cg::labeled_partition(h, v % 3);
        OUT(0, q.size());
        OUT(1, cg::reduce(q, v, cg::plus<int>()));
        OUT(2, h.shfl(v, 0));
    }
    OUT(3, 2);
}
