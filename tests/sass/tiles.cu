// Tiles of tensors in machine code (UTMALDG, UTMASTG, UTMAREDG): thread 0 loads a tile of three
// dimensions, in part outside, with the 128-byte swizzle; all threads show it; thread 0 stores it
// to one tensor and adds it to another. Tiles of one and of five dimensions are loaded beside it.
// An H200 leaves what is expected (driver 580.159.04, 2026-11-30).
//
//! title  Tiles of tensors: loads, stores, reductions, swizzle, what is outside
//! grid   = (2, 3)
//! block  = 128
//! buffer in: s32[40 * 12 * 3] = i + 1 for i
//! buffer line: u8[64] = i for i
//! buffer five: u64[4 * 3 * 2 * 2 * 2] = i * i for i
//! buffer seen: s32[6 * 384] = fill(-1)
//! buffer ends: u64[6 * 2] = fill(7)
//! buffer out: s32[64 * 12 * 3] = fill(-1)
//! buffer sums: s32[64 * 12 * 3] = i for i
//! tensor source: in[40, 12, 3] tile [32, 4, 3] swizzle128
//! tensor bytes: line[64] tile [16]
//! tensor deep: five[4, 3, 2, 2, 2] tile [2, 1, 1, 1, 1]
//! tensor target: out[64, 12, 3] tile [32, 4, 3] swizzle128
//! tensor added: sums[64, 12, 3] tile [32, 4, 3] swizzle128
//! arg    0 = source
//! arg    1 = bytes
//! arg    2 = deep
//! arg    3 = target
//! arg    4 = added
//! arg    5 = seen
//! arg    6 = ends
//! const  plane = 40 * 12
//! expect seen == ((i % 32 + i / 384 % 2 * 32 >= 4 && i % 32 + i / 384 % 2 * 32 < 44)
//!   ? i % 384 / 128 * plane + (i / 768 * 4 + i % 128 / 32) * 40 + i % 32 + i / 384 % 2 * 32 - 3
//!   : 0) for i
//! expect out == ((i % 64 >= 4 && i % 64 < 44) ? i / 64 * 40 + i % 64 - 3 : 0) for i
//! expect sums == (i + ((i % 64 >= 4 && i % 64 < 44) ? i / 64 * 40 + i % 64 - 3 : 0)) for i
//! expect ends == (i % 2 == 0 ? 0x0706050403020100 + i / 2 % 4 * 0x1010101010101010
//!   : (i / 2 % 2 == 0 ? 90 * 90 : 42 * 42)) for i

#include <cuda.h>
#include <cstdint>

extern "C" __global__ void tiles(const __grid_constant__ CUtensorMap source,
                                 const __grid_constant__ CUtensorMap bytes,
                                 const __grid_constant__ CUtensorMap deep,
                                 const __grid_constant__ CUtensorMap target,
                                 const __grid_constant__ CUtensorMap added, int *seen,
                                 unsigned long long *ends) {
    __shared__ alignas(1024) int tile[384];
    __shared__ alignas(128) unsigned long long small[2][16];
    __shared__ alignas(8) uint64_t bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(tile);
    unsigned ones = (unsigned)__cvta_generic_to_shared(small[0]);
    unsigned fives = (unsigned)__cvta_generic_to_shared(small[1]);
    unsigned object = (unsigned)__cvta_generic_to_shared(&bar);
    int block = blockIdx.y * 2 + blockIdx.x, x = blockIdx.x * 32, y = blockIdx.y * 4;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&target) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1568;" ::"r"(object)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(at),
                     "l"(&source), "r"(x - 4), "r"(y), "r"(0), "r"(object)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes.L2::cache_hint [%0], [%1, {%2}], [%3], %4;" ::"r"(ones),
                     "l"(&bytes), "r"(block % 4 * 16), "r"(object), "l"(0x1000000000000000ull)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(fives),
                     "l"(&deep), "r"(2), "r"(1), "r"(1), "r"(1), "r"(1 - (int)blockIdx.x),
                     "r"(object)
                     : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(
                         &target),
                     "r"(x), "r"(y), "r"(0)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; "
                 "@!p bra W; }" ::"r"(object)
                 : "memory");
    for (int i = threadIdx.x; i < 384; i += blockDim.x)
        seen[block * 384 + i] = tile[i ^ (i >> 5 & 7) << 2];
    if (threadIdx.x < 2) ends[block * 2 + threadIdx.x] = small[threadIdx.x][0];
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                     "[%0, {%1, %2, %3}], [%4];" ::"l"(&target),
                     "r"(x), "r"(y), "r"(0), "r"(at)
                     : "memory");
        asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%1, %2, %3}], [%4];" ::"l"(&added),
                     "r"(x), "r"(y), "r"(0), "r"(at)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
