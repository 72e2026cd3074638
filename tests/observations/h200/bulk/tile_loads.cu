// Copies of tiles by one thread from L2 to shared memory: `n` of them one after another and the wait
// for them, four times. t has the cycles. tiles.csv has those of an H200 (driver 580.159.04,
// 2026-11-30), the last of the four; rows of the tensor are 4,096 bytes apart.
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
//! arg    2 = 4 * width * height
//! arg    3 = n
//! arg    4 = 4
//! arg    5 = 0
//! arg    6 = n > 1 ? height : 0
//! arg    7 = 0

#include <cuda.h>
#include <cstdint>

extern __shared__ unsigned char raw[];

__device__ unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void wait(unsigned object, int parity) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; "
                 "@!p bra W; }" ::"r"(object), "r"(parity)
                 : "memory");
}

extern "C" __global__ void load(const __grid_constant__ CUtensorMap map, long long *out, int bytes,
                                int n, int reps, int dx, int dy, int block_dy) {
    __shared__ alignas(8) uint64_t bar;
    unsigned to = (shared(raw) + 1023) & ~1023u, object = shared(&bar);
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async;" ::"r"(object));
    for (int r = 0; r < reps; r++) {
        long long start = clock64();
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object),
                     "r"(bytes * n)
                     : "memory");
        for (int i = 0; i < n; i++)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                         "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                         "l"(&map), "r"(dx * i), "r"(dy * i + (int)blockIdx.x * block_dy),
                         "r"(object)
                         : "memory");
        wait(object, r & 1);
        long long end = clock64();
        out[blockIdx.x * reps + r] = end - start;
    }
}
