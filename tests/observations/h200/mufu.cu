// Kernels behind mufu.txt, compiled by `nvcc -cubin -arch=sm_90`.
//
// PTX has no instruction that is SIN, COS, RCP64H or RSQ64H alone, so every function is made from
// the cubin of this file: the function field of each MUFU.EX2 (the low 16 bits of the encoding's
// high word, 0x0800) becomes 0x0000 COS, 0x0400 SIN, 0x0c00 LG2, 0x1000 RCP, 0x1400 RSQ,
// 0x1800 RCP64H, 0x1c00 RSQ64H, 0x2000 SQRT or 0x2400 TANH.

__device__ unsigned long long mix(unsigned long long x)
{
    x ^= x >> 33; x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

// 32768 blocks: one sum for 2^17 operands.
extern "C" __global__ void sums(unsigned long long *out)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    unsigned first = blockIdx.x << 17;
    unsigned long long mine = 0;
    for (unsigned i = threadIdx.x; i < 1u << 17; i += blockDim.x) {
        unsigned y;
        asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=r"(y) : "r"(first + i));
        mine += mix((unsigned long long)i << 32 | y);
    }
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// 65536 threads: the results of four functions on 16-bit floats.
extern "C" __global__ void shorts(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short x = i, y;
    asm volatile("ex2.approx.f16 %0, %1;" : "=h"(y) : "h"(x));
    out[i] = y;
    asm volatile("tanh.approx.f16 %0, %1;" : "=h"(y) : "h"(x));
    out[i + 65536] = y;
    asm volatile("ex2.approx.ftz.bf16 %0, %1;" : "=h"(y) : "h"(x));
    out[i + 131072] = y;
    asm volatile("tanh.approx.bf16 %0, %1;" : "=h"(y) : "h"(x));
    out[i + 196608] = y;
}

// Sums of PTX's own approximations, each over 2^17 numbers; `out` has one for each block.
#define SUM(...) \
    __shared__ unsigned long long sum; \
    if (threadIdx.x == 0) sum = 0; \
    __syncthreads(); \
    unsigned long long mine = 0; \
    for (unsigned i = threadIdx.x; i < 1u << 17; i += blockDim.x) { \
        unsigned a = (blockIdx.x << 17) + i; \
        unsigned long long p = mix(a + 0x9e3779b97f4a7c15ull), r; \
        __VA_ARGS__; \
        mine += mix((unsigned long long)i << 32 ^ r); \
    } \
    atomicAdd(&sum, mine); \
    __syncthreads(); \
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
#define UNARY(name, op) extern "C" __global__ void name(unsigned long long *out) { \
    SUM(unsigned y; asm volatile(op " %0, %1;" : "=r"(y) : "r"(a)); r = y) }
#define QUOTIENT(name, op) extern "C" __global__ void name(unsigned long long *out) { \
    SUM(unsigned y, b = p >> 32; \
        asm volatile(op " %0, %1, %2;" : "=r"(y) : "r"((unsigned)p), "r"(b)); r = y) }
// Every eighth operand is a subnormal number.
#define DOUBLE(name, op) extern "C" __global__ void name(unsigned long long *out) { \
    SUM(if ((p & 7) == 1) p = mix(p) >> 12 | p << 63; \
        asm volatile(op " %0, %1;" : "=l"(r) : "l"(p))) }
UNARY(ptx_rcp, "rcp.approx.f32")
UNARY(ptx_root, "sqrt.approx.f32")
UNARY(ptx_rsqrt, "rsqrt.approx.f32")
UNARY(ptx_sine, "sin.approx.f32")
UNARY(ptx_cosine_ftz, "cos.approx.ftz.f32")
UNARY(ptx_lg2, "lg2.approx.f32")
UNARY(ptx_ex2, "ex2.approx.f32")
UNARY(ptx_tangent, "tanh.approx.f32")
QUOTIENT(ptx_div, "div.approx.f32")
QUOTIENT(ptx_div_ftz, "div.approx.ftz.f32")
QUOTIENT(ptx_div_full, "div.full.f32")
QUOTIENT(ptx_div_full_ftz, "div.full.ftz.f32")
DOUBLE(ptx_rsqrt_f64, "rsqrt.approx.f64")
DOUBLE(ptx_rsqrt_ftz_f64, "rsqrt.approx.ftz.f64")
DOUBLE(ptx_rcp_ftz_f64, "rcp.approx.ftz.f64")
