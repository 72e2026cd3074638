// One access to shared memory by the lanes of a mask. Lane l takes the place
//     (((l >> p) << q | l & r) * s ^ l * l * h >> 2) & c
// in an array of elements of its width. banks.csv has what ncu counts on an H200 (driver
// 580.159.04): l1tex__data_pipe_lsu_wavefronts_mem_shared, less the one of each launch, and
// l1tex__data_bank_conflicts_pipe_lsu_mem_shared of loads and stores. A name is the kernel and
// p, q, r, s, h, c, m.
//
//! const  p = 0
//! const  q = 0
//! const  r = 0
//! const  s = 1
//! const  h = 0
//! const  c = 255
//! const  m = 0xffffffff
//! grid   = 1
//! block  = 32
//! buffer out: s32[4] = fill(0)
//! arg    0 = out
//! arg    1 = p
//! arg    2 = q
//! arg    3 = r
//! arg    4 = s
//! arg    5 = h
//! arg    6 = c
//! arg    7 = m

#define KERNEL(name, width, text, operands)                                                       \
    extern "C" __global__ void name(int *out, int p, int q, int r, int s, int h, int c,           \
                                    unsigned m) {                                                 \
        __shared__ __align__(16) char bytes[256 * width];                                         \
        int l = threadIdx.x, x = 0, y = 0, z = 0, w = 0;                                          \
        int place = (((l >> p) << q | (l & r)) * s ^ (l * l * h >> 2)) & c;                       \
        unsigned a = (unsigned)__cvta_generic_to_shared(bytes + place * width);                   \
        if (m >> l & 1) asm volatile(text : operands : "r"(a) : "memory");                        \
        if (x + y + z + w == 0x12345678) out[0] = 1;                                              \
    }
#define ONE "+r"(x)
#define TWO ONE, "+r"(y)
#define FOUR TWO, "+r"(z), "+r"(w)

KERNEL(load4, 4, "ld.shared.u32 %0, [%1];", ONE)
KERNEL(load8, 8, "ld.shared.v2.u32 {%0, %1}, [%2];", TWO)
KERNEL(load16, 16, "ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];", FOUR)
KERNEL(store4, 4, "st.shared.u32 [%1], %0;", ONE)
KERNEL(store8, 8, "st.shared.v2.u32 [%2], {%0, %1};", TWO)
KERNEL(store16, 16, "st.shared.v4.u32 [%4], {%0, %1, %2, %3};", FOUR)
