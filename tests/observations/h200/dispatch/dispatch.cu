// Loads that hit in L1, by the lines of a warp's lanes (`lines`), and rows of a few instructions
// each (the others). Lane l reads word l of line (l >> q) * s, or of a line drawn by u if u is
// above 0. `chain`: each load needs the one before; `row`: four do not.
//
// dispatch.csv has the mean cycles of the block's warps in the last of three rounds on an H200
// (driver 580.159.04), the median of five launches.
//
//! const  s = 1
//! const  q = 0
//! const  u = 0
//! grid   = 1
//! block  = 32
//! buffer far: s32[32768] = fill(0)
//! buffer t: s32[64] = fill(0)
//! arg    0 = t
//! arg    1 = far
//! arg    2 = s
//! arg    3 = q
//! arg    4 = u

// The clock once x is known.
__device__ __forceinline__ int clock_after(int &x) {
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(x) :: "memory");
    return now;
}
#define LOAD4(v, a) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory")
#define LOAD8(v, a) \
    asm volatile("{ .reg .u32 y; ld.global.v2.u32 {%0, y}, [%1]; or.b32 %0, %0, y; }" \
                 : "=r"(v) : "l"(a) : "memory")
#define LOAD16(v, a) \
    asm volatile("{ .reg .u32 y, z, w; ld.global.v4.u32 {%0, y, z, w}, [%1]; " \
                 "or.b32 %0, %0, y; or.b32 z, z, w; or.b32 %0, %0, z; }" \
                 : "=r"(v) : "l"(a) : "memory")

#define LINES(name, width, ONE, chains) \
    extern "C" __global__ void name(int *t, int *far, int s, int q, unsigned u) { \
        int l = threadIdx.x & 31, w = threadIdx.x / 32, a = 0, b = 0; \
        unsigned line = (l >> q) * s; \
        if (u) line = ((l >> q) * 2654435761u + u * 40503u) * 2246822519u >> 22; \
        char *f = (char *)far + line * 128 + l * width % 128; \
        int x[chains] = {}; \
        __syncthreads(); \
        _Pragma("unroll 1") for (int round = 0; round < 3; round++) { \
            __syncwarp(); a = clock_after(x[0]); \
            _Pragma("unroll") for (int k = 0; k < 32 / chains; k++) \
                _Pragma("unroll") for (int c = 0; c < chains; c++) ONE(x[c], f + x[c]); \
            _Pragma("unroll") for (int c = 1; c < chains; c++) x[0] += x[c]; \
            b = clock_after(x[0]); \
        } \
        if (l == 0) t[2 * w] = b - a; \
        if (x[0] == 77777) t[1] = x[0]; \
    }
LINES(lines4_chain, 4, LOAD4, 1)
LINES(lines4_row, 4, LOAD4, 4)
LINES(lines8_row, 8, LOAD8, 4)
LINES(lines16_row, 16, LOAD16, 4)

struct State {
    int x, h;       // of each lane
    unsigned u, w;  // of all lanes
    float f[3];
    int a[3];
};
#define ROW(name, STEP) \
    extern "C" __global__ void name(int *t, int *far, int k, int c, unsigned e) { \
        int l = threadIdx.x & 31, warp = threadIdx.x / 32, a = 0, b = 0; \
        float g = __int_as_float(c + l), g2 = __int_as_float(k + l); \
        State r = {0, l, e, (unsigned)k, {g, g2, 1.0f}, {l, l + 1, l + 2}}; \
        int own = l * 5; \
        __syncthreads(); \
        _Pragma("unroll 1") for (int round = 0; round < 3; round++) { \
            __syncwarp(); a = clock_after(r.x); \
            _Pragma("unroll 1") for (int i = 0; i < 4; i++) { \
                _Pragma("unroll") for (int j = 0; j < 16; j++) { STEP } \
            } \
            int sum = r.x + r.h + r.u + r.w + r.a[0] + r.a[1] + r.a[2]; \
            sum += (int)(r.f[0] + r.f[1] + r.f[2]); \
            b = clock_after(sum); \
            if (sum == 0x7654321) t[1] = sum; \
        } \
        if (l == 0) t[2 * warp] = b - a; \
    }
// What is multiplied by IMAD.WIDE comes from a load, or from an instruction just before it.
ROW(factor_loaded, r.x = far[r.x];)
ROW(factor_of_logic, r.x = far[(unsigned)r.x ^ e];)
ROW(factor_of_sum, r.x = far[(unsigned)(r.x + l)];)
ROW(factor_of_both, r.x = far[(unsigned)((r.x & c) + l)];)
ROW(factor_of_product, r.x = far[(unsigned)(r.x * k + l)];)
// The uniform datapath.
ROW(uniform_product, r.u = r.u * k + c;)
ROW(uniform_logic, r.u = (r.u >> 3) ^ k;)
ROW(uniform_sum, r.u = (r.u + k) ^ c;)
ROW(uniform_products, r.u = r.u * k + c; r.w = r.w * k + e;)
ROW(uniform_between, r.x = r.x * r.u + r.h; r.u = (r.u + k) ^ c;)
ROW(uniform_beside, r.u = r.u * k + c; r.x ^= r.h; r.h += r.x;)
// Operands in uniform registers.
ROW(with_uniform_products, r.h = r.h * k + r.x; r.x = r.h * k + l; r.h ^= r.x;)
ROW(with_uniform_logic, r.u = r.u * k + c; r.x ^= r.u; r.h += r.x;)
ROW(with_uniform_both, r.u = (r.u + k) ^ c; r.w = r.w * k + c; r.x ^= r.h; r.h += r.x; r.x ^= k;
    r.h += c;)
// Registers that are kept across an instruction of another bank or slot.
#define LOGIC(n) \
    asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(r.a[n]) : "r"(k), "r"(own));
#define FUSED(n) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(r.f[n]) : "f"(g), "f"(g2));
ROW(kept_one, LOGIC(0) FUSED(0))
ROW(kept_two, LOGIC(0) FUSED(0) LOGIC(1) FUSED(1))
ROW(kept_three, LOGIC(0) FUSED(0) LOGIC(1) FUSED(1) LOGIC(2) FUSED(2))
