// Uniform bit reversal, masks and bit fields: addresses of barrier objects.
//
//! kernel form_uniform_bits
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#define ARRIVE(at) asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory")

extern "C" __global__ void form_uniform_bits(const int *in, int *out, unsigned n)
{
    __shared__ unsigned long long bar[64];
    unsigned base = (unsigned)__cvta_generic_to_shared(bar), t = threadIdx.x;
    if (t == 0)
        for (int i = 0; i < 64; i++)
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(base + 8 * i), "r"(4 * blockDim.x));
    __syncthreads();
    for (unsigned j = 0; j < n >> 12; j++) {
        unsigned mask, field;
        ARRIVE(base + 8 * (__brev(n + j) >> 26));
        asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(j & 3), "r"(n & 3));
        ARRIVE(base + 8 * (mask & 63));
        asm("szext.clamp.s32 %0, %1, %2;" : "=r"(field) : "r"(n + j), "r"(5));
        ARRIVE(base + 8 * (field + 16 & 63));
        ARRIVE(base + 8 * (abs((int)(j * 7 - n)) & 63));
        ARRIVE(base + 8 * min(j, n >> 13));
    }
    __syncthreads();
    // An object has ended as many phases as the loop has used its address.
    unsigned even;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(even)
                 : "r"(base + 8 * (t & 63))
                 : "memory");
    out[blockIdx.x * blockDim.x + t] = even;
}
