// Votes, sums, matches and shuffles by lanes with masks of their own (WARPSYNC.EXCLUSIVE), and by lanes
// that come from different places (WARPSYNC.COLLECTIVE). An H200 ran them (driver 580.159.04): the
// digest of what each leaves in `out`, its counters, and executions and lanes of each instruction
// (Nsight Compute, SourceCounters) are in the files beside this one.
//
//! const  n = 4096
//! grid   = 4
//! block  = 64
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, unsigned n)
#define ALL 0xffffffffu
#define THREAD unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int v = in[i]
#define OUT(k, value) out[8 * i + (k)] = (int)(value)

// Groups of equal values, as for atomics that a group of lanes adds up first.
KERNEL(groups_by_value) {
    THREAD;
    unsigned mask = __match_any_sync(ALL, v % 5);
    OUT(0, __ballot_sync(mask, v & 8));
    OUT(1, __reduce_add_sync(mask, v));
    OUT(2, __match_any_sync(mask, v % 3));
    int same;
    unsigned all = __match_all_sync(mask, v % 2, &same);
    OUT(3, all + 7 * same);
    OUT(4, (__any_sync(mask, v % 11 == 0) != 0) + 2 * (__all_sync(mask, v & 32) != 0));
    OUT(5, __shfl_sync(mask, v, __ffs(mask) - 1));
    __syncwarp(mask);
    OUT(6, __reduce_max_sync(mask, v) - __reduce_min_sync(mask, v));
    OUT(7, n);
}

// Neighbors, in groups whose size the data give.
KERNEL(groups_of_neighbors) {
    THREAD;
    unsigned lane = threadIdx.x & 31, size = 1u << (in[blockIdx.x * blockDim.x] + blockIdx.x) % 5;
    unsigned mask = ((1u << size) - 1) << (lane & ~(size - 1));
    OUT(0, __ballot_sync(mask, v & 1));
    OUT(1, __reduce_xor_sync(mask, v));
    OUT(2, __shfl_xor_sync(mask, v, size / 2));
    OUT(3, __match_any_sync(mask, v & 3));
    OUT(4, n);
}

KERNEL(groups_in_a_branch) {
    THREAD;
    if (v & 1) {
        unsigned mask = __match_any_sync(__activemask(), v % 3);
        OUT(0, __ballot_sync(mask, v & 2));
        OUT(1, __reduce_add_sync(mask, v));
        OUT(2, __shfl_sync(mask, v, 31 - __clz(mask)));
    } else {
        OUT(3, __ballot_sync(__activemask(), v & 4));
    }
    OUT(4, n);
}

// One vote, sum or shuffle by lanes in two or three places.
KERNEL(vote_in_two_places) {
    THREAD;
    unsigned b;
    if (v & 1) b = __ballot_sync(ALL, v & 2) + 1;
    else b = __ballot_sync(ALL, v & 4);
    OUT(0, b);
    OUT(1, n);
}

KERNEL(shuffle_in_three_places) {
    THREAD;
    int r = v % 3, w;
    if (r == 0) w = __shfl_sync(ALL, v, 5);
    else if (r == 1) w = 2 * __shfl_sync(ALL, v + 1, 7);
    else w = 3 * __shfl_sync(ALL, v + 2, 6);
    OUT(0, w);
    OUT(1, n);
}

KERNEL(shuffle_in_four_arms) {
    THREAD;
    int w = v;
    switch (v % 4) {
    case 0: w += __shfl_xor_sync(ALL, v, 1); break;
    case 1: w -= __shfl_xor_sync(ALL, v + 3, 1); break;
    case 2: w *= __shfl_xor_sync(ALL, v ^ 5, 1); break;
    default: w ^= __shfl_xor_sync(ALL, v * 7, 1);
    }
    OUT(0, w);
    OUT(1, n);
}

KERNEL(halves_in_two_places) {
    THREAD;
    unsigned lane = threadIdx.x & 31;
    int w = v;
    if (v & 1) {
        if (lane < 16) w += __shfl_xor_sync(0xffffu, v, 3);
        else w -= __shfl_xor_sync(0xffff0000u, v, 5);
    } else {
        if (lane < 16) w ^= __shfl_xor_sync(0xffffu, v + 1, 3);
        else w *= __shfl_xor_sync(0xffff0000u, v + 1, 5);
    }
    OUT(0, w);
    OUT(1, n);
}

// Lanes come after different numbers of trips, by another value in each.
KERNEL(sum_after_trips) {
    THREAD;
    int w = v, s = 0;
    for (int k = 0;; k++) {
        w = w * 5 + k;
        OUT(1, w);
        if (k == v % 6) {
            s = __reduce_add_sync(ALL, w);
            break;
        }
        if (k == 4 && v % 6 == 5) {
            s = 2 * __reduce_add_sync(ALL, w + 1);
            break;
        }
    }
    OUT(0, s);
    OUT(2, n);
}

// Lanes that exit are not waited for.
KERNEL(vote_of_those_left) {
    THREAD;
    if (v % 7 == 0) {
        OUT(0, -1);
        return;
    }
    unsigned b;
    if (v & 1) b = __ballot_sync(ALL, v & 2) + 1;
    else b = __ballot_sync(ALL, v & 4);
    OUT(0, b);
    OUT(1, n);
}

// Lanes that do not take part, or have exited: undefined in CUDA, 0 on an H200.
KERNEL(absent_lanes) {
    THREAD;
    if (v & 1) {
        unsigned here = __activemask();
        OUT(0, __shfl_xor_sync(here, v, 1));
        OUT(1, __shfl_sync(here, v, 4));
        OUT(2, __shfl_up_sync(here, v, 3));
        OUT(3, __shfl_down_sync(here, v, 1));
    }
    if (v % 5 == 0) return;
    OUT(4, __shfl_down_sync(__activemask(), v, 5));
    OUT(5, __shfl_xor_sync(__activemask(), v, 16));
    OUT(6, n);
}
