// Bulk copies to shared memory, which a barrier object counts, and back, with and without a cache
// policy.
//
//! kernel form_bulk_copies
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void form_bulk_copies(const int *in, int *out, unsigned n)
{
    __shared__ __align__(128) int s[2048];
    __shared__ __align__(8) unsigned long long object;
    unsigned t = threadIdx.x, at = (unsigned)__cvta_generic_to_shared(s);
    unsigned m = (unsigned)__cvta_generic_to_shared(&object);
    const int *from = in + 2048 * blockIdx.x;
    int *to = out + 4096 * blockIdx.x;
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 256;" :: "r"(m) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], 4096;" :: "l"(from) : "memory");
        asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], 4096, %1;" :: "l"(from), "l"(policy) : "memory");
    }
    __syncthreads();
    // One large copy by a thread, and one of 16 bytes by each thread of two warps.
    unsigned bytes = t == 0 ? 4096 : t >= 64 && t < 128 ? 16 : 0;
    if (t == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" :: "r"(at), "l"(from), "r"(m) : "memory");
    }
    if (t >= 64 && t < 128) {
        unsigned to = at + 4096 + 16 * (t - 64);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" :: "r"(to), "l"(from + 1024 + 4 * (127 - t)), "r"(bytes), "r"(m), "l"(policy) : "memory");
    }
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(m), "r"(bytes) : "memory");
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra again;\n}" :: "r"(m) : "memory");
    for (int j = t; j < 1280; j += 256)
        s[j] += j;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t < 5) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to + 256 * t), "r"(at + 1024 * t), "r"(1024 - 16 * t) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" :: "l"(to + 2048 + 256 * t), "r"(at + 1024 * (4 - t)), "r"(512), "l"(policy) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
