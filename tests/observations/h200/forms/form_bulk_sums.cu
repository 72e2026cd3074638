// Bulk reductions of all functions and types.
//
//! kernel form_bulk_sums
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#define SUM(k, form) \
    if (t == k) \
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." form " [%0], [%1], 512;" :: "l"(to + 128 * k), "r"(at + 512 * (k % 4)) : "memory");

extern "C" __global__ void form_bulk_sums(const int *in, int *out, unsigned n)
{
    __shared__ __align__(128) int s[512];
    unsigned t = threadIdx.x, at = (unsigned)__cvta_generic_to_shared(s);
    int *to = out + 4096 * blockIdx.x;
    const int *from = in + 8192 * blockIdx.x;
    for (int j = t; j < 4096; j += 256)
        to[j] = from[j] * 0x10003 ^ from[j + 1] << 20;
    for (int j = t; j < 512; j += 256)
        s[j] = from[4096 + j] * 0x8005 ^ from[j] << 18;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    SUM(0, "add.u32") SUM(1, "add.s32") SUM(2, "add.u64") SUM(3, "add.noftz.f16")
    SUM(4, "add.noftz.bf16") SUM(5, "add.f32") SUM(6, "add.f64") SUM(7, "min.u32")
    SUM(8, "min.s32") SUM(9, "min.u64") SUM(10, "min.s64") SUM(11, "min.f16") SUM(12, "min.bf16")
    SUM(13, "max.u32") SUM(14, "max.s32") SUM(15, "max.u64") SUM(16, "max.s64") SUM(17, "max.f16")
    SUM(18, "max.bf16") SUM(19, "inc.u32") SUM(20, "dec.u32") SUM(21, "and.b32") SUM(22, "and.b64")
    SUM(23, "or.b32") SUM(24, "or.b64") SUM(25, "xor.b32") SUM(26, "xor.b64")
    if (t == 27) {
        unsigned long long policy;
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [%0], [%1], 512, %2;" :: "l"(to + 128 * 27), "r"(at), "l"(policy) : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
