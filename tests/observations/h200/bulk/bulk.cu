// Bulk copies of one thread: from L2 to shared memory (`load`), to global memory (`store`), and
// reductions (`sum`). t has the cycles until the copy has been issued and until the wait is over,
// of six copies in turn; bulk.csv has the latter of an H200 (driver 580.159.04), as median of the
// last five. rates.csv has bytes per cycle and SM of copies one after another, as means of the SMs;
// `depth` of them are under way.
//
//! const  bytes = 16
//! grid   = 1
//! block  = 32
//! shared = 232448
//! buffer in: u32[16384] = fill(0)
//! buffer out: u32[16384] = fill(0)
//! buffer t: u32[12] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = bytes
//! arg    3 = t

typedef unsigned int u32;

extern __shared__ __align__(128) unsigned char sm[];

__device__ inline bool ended(u32 m, u32 parity) {
    u32 r;
    asm volatile("{.reg .pred q; mbarrier.try_wait.parity.shared.b64 q,[%1],%2;"
                 " selp.u32 %0,1,0,q;}" : "=r"(r) : "r"(m), "r"(parity) : "memory");
    return r;
}

#define KERNEL(name, expect, start, wait)                                                          \
    extern "C" __global__ void name(const char *in, char *out, u32 n, u32 *t) {                    \
        u32 m = (u32)__cvta_generic_to_shared(sm);                                                 \
        if (threadIdx.x == 0) {                                                                    \
            asm volatile("mbarrier.init.shared.b64 [%0],%1;" :: "r"(m), "r"(1) : "memory");        \
            asm volatile("fence.proxy.async;" ::: "memory");                                       \
            u32 parity = 0;                                                                        \
            for (int r = 0; r < 6; r++) {                                                          \
                expect;                                                                            \
                long long t0 = clock64(), ti;                                                      \
                start;                                                                             \
                ti = clock64();                                                                    \
                wait;                                                                              \
                parity ^= 1;                                                                       \
                long long t1 = clock64();                                                          \
                t[2 * r] = (u32)(ti - t0);                                                         \
                t[2 * r + 1] = (u32)(t1 - t0);                                                     \
                __nanosleep(3000);                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

KERNEL(load,
       asm volatile("mbarrier.arrive.expect_tx.shared.b64 _,[%0],%1;" :: "r"(m), "r"(n) : "memory"),
       asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                    " [%0],[%1],%2,[%3];" :: "r"(m + 128), "l"(in), "r"(n), "r"(m) : "memory"),
       while (!ended(m, parity)))
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
KERNEL(store, ,
       asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],%2;"
                    :: "l"(out), "r"(m + 128), "r"(n) : "memory"); COMMIT,
       WAIT)
KERNEL(sum, ,
       asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0],[%1],%2;"
                    :: "l"(out), "r"(m + 128), "r"(n) : "memory"); COMMIT,
       WAIT)
