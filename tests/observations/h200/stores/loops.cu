// Warps that store to the same lines again and again. loops.csv has the lanes that store, the words
// between two of them, and on an H200 (driver 580.159.04) the cycles of 256 iterations, the mean of
// the warps and median of five launches, and the sectors that leave the SM in another launch
// (l1tex__m_l1tex2xbar_write_sectors). Each kernel leaves the cycles of each warp in t[2 * warp].
//
//! const block = 32
//! const lanes = 1
//! const words = 32
//! grid   = 1
//! block  = block
//! buffer t: u32[64] = fill(0)
//! buffer out: u32[140000]
//! buffer far: u32[1024] = fill(0)
//! arg    0 = t
//! arg    1 = out
//! arg    2 = far
//! arg    3 = lanes
//! arg    4 = words
//! arg    5 = 0

#define CLOCK(now) asm volatile("mov.u32 %0, %%clock;" : "=r"(now), "+r"(q)::"memory");
// Lanes of a warp store words that are `words` apart, in lines of their own.
#define KERNEL(name, ...)                                                                        \
  extern "C" __global__ void name(unsigned* t, unsigned* out, unsigned* far, unsigned lanes,     \
                                  unsigned words, unsigned zero) {                               \
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, q = zero, begun, ended;           \
    unsigned *p = out + warp * 4096 + lane * words, *hit = far + warp * 32;                      \
    __VA_ARGS__                                                                                  \
    __syncthreads();                                                                             \
    CLOCK(begun)                                                                                 \
    _Pragma("unroll 1") for (int k = 0; k < 256; k++) { __VA_ARGS__ }                            \
    CLOCK(ended)                                                                                 \
    if (lane == 0) t[2 * warp] = ended - begun;                                                  \
    if (q == 77) t[1] = q;                                                                       \
  }
#define LD asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(q) : "l"(hit + q) : "memory");
#define ST                                                                                       \
  if (lane < lanes) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + q), "r"(q) : "memory");
#define MAD asm volatile("mad.lo.u32 %0, %0, %1, %0;" : "+r"(q) : "r"(zero));

KERNEL(store_0, ST)
KERNEL(store_2, ST MAD MAD)
KERNEL(store_5, ST MAD MAD MAD MAD MAD)
KERNEL(store_10, ST MAD MAD MAD MAD MAD MAD MAD MAD MAD MAD)
KERNEL(load_0, LD ST)
KERNEL(load_4, LD MAD MAD MAD MAD ST)
