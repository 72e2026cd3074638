// Copies of tiles by one thread to global memory (`store`), and reductions (`reduce`): as
// tile_loads.cu.
//
//! const  width = 4
//! const  height = 1
//! const  n = 1
//! grid   = 1
//! block  = 32
//! shared = 204800
//! buffer in: u32[1024 * 2048]
//! buffer t: s64[4]
//! tensor map: in[1024, 2048] tile [width, height]
//! arg    0 = map
//! arg    1 = t
//! arg    2 = n
//! arg    3 = 4
//! arg    4 = 0
//! arg    5 = n > 1 ? height : 0
//! arg    6 = 0

#include <cuda.h>
#include <cstdint>

extern __shared__ unsigned char raw[];

template <bool REDUCES>
__device__ void copies(const CUtensorMap &map, long long *out, int n, int reps, int dx, int dy,
                       int block_dy) {
    unsigned from = ((unsigned)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    if (threadIdx.x) return;
    for (int r = 0; r < reps; r++) {
        long long start = clock64();
        for (int i = 0; i < n; i++)
            if (REDUCES)
                asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile."
                             "bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
                             "l"(&map), "r"(dx * i), "r"(dy * i + (int)blockIdx.x * block_dy)
                             : "memory");
            else
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                             "[%1, {%2, %3}], [%0];" ::"r"(from),
                             "l"(&map), "r"(dx * i), "r"(dy * i + (int)blockIdx.x * block_dy)
                             : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
        long long end = clock64();
        out[blockIdx.x * reps + r] = end - start;
    }
}

extern "C" __global__ void store(const __grid_constant__ CUtensorMap map, long long *out, int n,
                                 int reps, int dx, int dy, int block_dy) {
    copies<false>(map, out, n, reps, dx, dy, block_dy);
}

extern "C" __global__ void reduce(const __grid_constant__ CUtensorMap map, long long *out, int n,
                                  int reps, int dx, int dy, int block_dy) {
    copies<true>(map, out, n, reps, dx, dy, block_dy);
}
