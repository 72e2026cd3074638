// Matrix products of warpgroups, from shared memory and from registers.
//
//! kernel form_warpgroup
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
__device__ unsigned long long descriptor(const void *at, unsigned leading, unsigned stride, unsigned swizzle) {
    unsigned address = (unsigned)__cvta_generic_to_shared(at);
    return (address & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(stride >> 4) << 32 | (unsigned long long)swizzle << 62;
}

#define BEGIN asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define END asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory")
#define D4 "{%0,%1,%2,%3}"
#define FLOATS(form, operands) \
    asm volatile("wgmma.mma_async.sync.aligned." form " " D4 ", %4, %5, " operands ";" \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "l"(a), "l"(b))
#define HELD(form, operands) \
    asm volatile("wgmma.mma_async.sync.aligned." form " " D4 ", {%4,%5,%6,%7}, %8, " operands ";" \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b))
#define HALVES(form, operands) \
    asm volatile("wgmma.mma_async.sync.aligned." form " {%0,%1}, %2, %3, " operands ";" \
                 : "+r"(h[0]), "+r"(h[1]) : "l"(a), "l"(b))
#define INTEGERS(form, operands) \
    asm volatile("wgmma.mma_async.sync.aligned." form " " D4 ", %4, %5, " operands ";" \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(a), "l"(b))

extern "C" __global__ void form_warpgroup(const int *in, int *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    __shared__ __align__(1024) unsigned s[8192];
    // Finite numbers in each format: the highest bit of each exponent is 0.
    for (int j = t; j < 8192; j += 256) s[j] = in[(j + 7 * i - t) & (n - 1)] * 2654435761u & 0xbfbfbfbf;
    unsigned r[4], h[2] = {0, 0x3c003800}, z = 0;
    for (int j = 0; j < 4; j++) r[j] = in[(i + j) & (n - 1)] * 40503u & 0xbfbfbfbf;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float f[4] = {0, 1, 2, 3};
    unsigned d[4] = {1, 2, 3, 4};
    for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
        unsigned long long a = descriptor(s, 1024, 1024, swizzle), b = descriptor(s + 4096 + 8 * swizzle, 512, 1024, swizzle);
        BEGIN;
        FLOATS("m64n8k16.f32.f16.f16", "1, 1, 1, 0, 0");
        FLOATS("m64n8k16.f32.f16.f16", "1, -1, 1, 1, 0");
        FLOATS("m64n8k16.f32.bf16.bf16", "1, 1, -1, 0, 1");
        FLOATS("m64n8k8.f32.tf32.tf32", "1, -1, -1");
        HALVES("m64n8k16.f16.f16.f16", "1, 1, 1, 1, 1");
        INTEGERS("m64n8k32.s32.s8.u8", "1");
        END;
        for (int j = 0; j < 4; j++) z = z * 31 + __float_as_uint(f[j]) + h[j & 1] * 7 + d[j];
        BEGIN;
        HELD("m64n8k16.f32.f16.f16", "0, -1, 1, 1");
        HELD("m64n8k16.f32.bf16.bf16", "1, 1, 1, 0");
        HELD("m64n8k8.f32.tf32.tf32", "1, 1, 1");
        HELD("m64n8k32.f32.e4m3.e5m2", "1, 1, 1");
        INTEGERS("m64n8k32.s32.u8.u8.satfinite", "1");
        INTEGERS("m64n8k256.s32.b1.b1.and.popc", "1");
        END;
        for (int j = 0; j < 4; j++) z = z * 31 + __float_as_uint(f[j]) + d[j];
        BEGIN;
        FLOATS("m64n8k32.f32.e4m3.e4m3", "1, 1, 1");
        FLOATS("m64n8k32.f32.e5m2.e4m3", "1, 1, 1");
        HALVES("m64n8k32.f16.e5m2.e5m2", "1, 1, 1");
        END;
        for (int j = 0; j < 4; j++) z = z * 31 + __float_as_uint(f[j]) + h[j & 1] * 7;
    }
    out[i] = z;
}
