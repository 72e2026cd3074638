// Stores by which lanes, warps and instructions write the same lines: how many sectors leave an SM.
// stores.csv has the sectors stored, and those that left an H200's SM in two launches
// (l1tex__m_l1tex2xbar_write_sectors; driver 580.159.04).
//
// A name tells the stores. lines8: two stores of eight lanes, each lane to a line of its own, the
// second to the next word. gap3: a clock, three dependent IMAD and an exit between. alt8: A, B, A,
// B with other lines in B. back4: a store to four other lines before. mid8_4: A of eight lines, a
// store to four others, A. shift8_1: the second store one line further. sub8_4 and last8_4: the
// second has the first or last four lines. run8: eight words of a line by one lane. row8: 32 rows
// of eight words. full8: two words of them. w128: four warps, each with lines of its own; `same`:
// with the same lines.
//
//! const block = 32
//! grid   = 1
//! block  = block
//! buffer out: u32[2200000]
//! buffer other: u32[64]
//! arg    0 = out
//! arg    1 = other
//! arg    2 = 0

// Lanes store words that are `stride` apart; those of the next warp are `apart` further.
#define KERNEL_(name, apart, stride, ...)                                                        \
  extern "C" __global__ void name(unsigned* out, unsigned* other, unsigned zero) {               \
    __shared__ unsigned sh[64];                                                                  \
    unsigned lane = threadIdx.x & 31, x = zero, q = zero;                                        \
    sh[lane] = zero;                                                                             \
    unsigned* first = out + (threadIdx.x >> 5) * (size_t)apart;                                  \
    unsigned* p = first + lane * stride;                                                         \
    __syncthreads();                                                                             \
    __VA_ARGS__                                                                                  \
    if (x == 77) other[5] = sh[x];                                                               \
  }
#define KERNEL(name, ...) KERNEL_(name, 65536, __VA_ARGS__)
#define SAME(name, ...) KERNEL_(name, 1, __VA_ARGS__)
// A store of the first lanes, to words `at` after theirs.
#define ST(lanes, at)                                                                            \
  if (lane < lanes) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + (at)), "r"(q) : "memory");
#define CLOCK asm volatile("mov.u32 %0, %clock;" : "=r"(q)::"memory");
#define MAD asm volatile("mad.lo.u32 %0, %0, %1, %0;" : "+r"(q) : "r"(zero));
#define END if (q == zero) return;

KERNEL(one_gap0, 32, ST(1, 0) CLOCK END ST(1, 1))
KERNEL(one_gap8, 32, ST(1, 0) CLOCK MAD MAD MAD MAD MAD MAD MAD MAD END ST(1, 1))
KERNEL(lines1, 32, ST(1, 0) ST(1, 1))
KERNEL(lines2, 32, ST(2, 0) ST(2, 1))
KERNEL(lines4, 32, ST(4, 0) ST(4, 1))
KERNEL(lines8, 32, ST(8, 0) ST(8, 1))
KERNEL(lines16, 32, ST(16, 0) ST(16, 1))
KERNEL(lines20, 32, ST(20, 0) ST(20, 1))
KERNEL(lines24, 32, ST(24, 0) ST(24, 1))
KERNEL(lines28, 32, ST(28, 0) ST(28, 1))
KERNEL(lines31, 32, ST(31, 0) ST(31, 1))
KERNEL(lines32, 32, ST(32, 0) ST(32, 1))
KERNEL(lines4_gap0, 32, ST(4, 0) CLOCK END ST(4, 1))
KERNEL(lines4_gap1, 32, ST(4, 0) CLOCK MAD END ST(4, 1))
KERNEL(lines4_gap2, 32, ST(4, 0) CLOCK MAD MAD END ST(4, 1))
KERNEL(lines4_gap3, 32, ST(4, 0) CLOCK MAD MAD MAD END ST(4, 1))
KERNEL(lines4_gap4, 32, ST(4, 0) CLOCK MAD MAD MAD MAD END ST(4, 1))
KERNEL(lines4_gap6, 32, ST(4, 0) CLOCK MAD MAD MAD MAD MAD MAD END ST(4, 1))
KERNEL(lines8_gap0, 32, ST(8, 0) CLOCK END ST(8, 1))
KERNEL(lines8_gap1, 32, ST(8, 0) CLOCK MAD END ST(8, 1))
KERNEL(lines8_gap2, 32, ST(8, 0) CLOCK MAD MAD END ST(8, 1))
KERNEL(lines8_gap3, 32, ST(8, 0) CLOCK MAD MAD MAD END ST(8, 1))
KERNEL(lines8_gap4, 32, ST(8, 0) CLOCK MAD MAD MAD MAD END ST(8, 1))
KERNEL(lines8_gap6, 32, ST(8, 0) CLOCK MAD MAD MAD MAD MAD MAD END ST(8, 1))
KERNEL(lines12_gap0, 32, ST(12, 0) CLOCK END ST(12, 1))
KERNEL(lines12_gap1, 32, ST(12, 0) CLOCK MAD END ST(12, 1))
KERNEL(lines12_gap2, 32, ST(12, 0) CLOCK MAD MAD END ST(12, 1))
KERNEL(lines12_gap3, 32, ST(12, 0) CLOCK MAD MAD MAD END ST(12, 1))
KERNEL(lines12_gap4, 32, ST(12, 0) CLOCK MAD MAD MAD MAD END ST(12, 1))
KERNEL(lines12_gap6, 32, ST(12, 0) CLOCK MAD MAD MAD MAD MAD MAD END ST(12, 1))
KERNEL(lines16_gap0, 32, ST(16, 0) CLOCK END ST(16, 1))
KERNEL(lines16_gap1, 32, ST(16, 0) CLOCK MAD END ST(16, 1))
KERNEL(lines16_gap2, 32, ST(16, 0) CLOCK MAD MAD END ST(16, 1))
KERNEL(lines16_gap3, 32, ST(16, 0) CLOCK MAD MAD MAD END ST(16, 1))
KERNEL(lines16_gap4, 32, ST(16, 0) CLOCK MAD MAD MAD MAD END ST(16, 1))
KERNEL(lines16_gap6, 32, ST(16, 0) CLOCK MAD MAD MAD MAD MAD MAD END ST(16, 1))
KERNEL(full8_gap0, 8, ST(32, 0) CLOCK END ST(32, 1))
KERNEL(full8_gap1, 8, ST(32, 0) CLOCK MAD END ST(32, 1))
KERNEL(full8_gap2, 8, ST(32, 0) CLOCK MAD MAD END ST(32, 1))
KERNEL(full8_gap4, 8, ST(32, 0) CLOCK MAD MAD MAD MAD END ST(32, 1))
KERNEL(alt1, 32, ST(1, 0) ST(1, 32) ST(1, 1) ST(1, 33))
KERNEL(alt2, 32, ST(1, 0) ST(1, 64) ST(1, 1) ST(1, 65))
KERNEL(alt4, 32, ST(1, 0) ST(1, 128) ST(1, 1) ST(1, 129))
KERNEL(alt8, 32, ST(1, 0) ST(1, 256) ST(1, 1) ST(1, 257))
KERNEL(shift8_1, 32, ST(8, 0) ST(8, 33))
KERNEL(shift8_4, 32, ST(8, 0) ST(8, 129))
KERNEL(shift8_8, 32, ST(8, 0) ST(8, 257))
KERNEL(sub8_4, 32, ST(8, 0) ST(4, 1))
KERNEL(sub4_8, 32, ST(4, 0) ST(8, 1))
KERNEL(sub32_1, 32, ST(32, 0) ST(1, 1))
KERNEL(last32_1, 32, ST(32, 0) ST(1, 993))
KERNEL(sub32_8, 32, ST(32, 0) ST(8, 1))
KERNEL(last32_8, 32, ST(32, 0) ST(8, 769))
KERNEL(sub16_1, 32, ST(16, 0) ST(1, 1))
KERNEL(run2, 32, ST(1, 0) ST(1, 1))
KERNEL(run8, 32, ST(1, 0) ST(1, 1) ST(1, 2) ST(1, 3) ST(1, 4) ST(1, 5) ST(1, 6) ST(1, 7))
KERNEL(run16, 32, ST(1, 0) ST(1, 1) ST(1, 2) ST(1, 3) ST(1, 4) ST(1, 5) ST(1, 6) ST(1, 7) ST(1, 8)
       ST(1, 9) ST(1, 10) ST(1, 11) ST(1, 12) ST(1, 13) ST(1, 14) ST(1, 15))
KERNEL(run64, 32, ST(1, 0) ST(1, 1) ST(1, 2) ST(1, 3) ST(1, 4) ST(1, 5) ST(1, 6) ST(1, 7) ST(1, 8)
       ST(1, 9) ST(1, 10) ST(1, 11) ST(1, 12) ST(1, 13) ST(1, 14) ST(1, 15) ST(1, 16) ST(1, 17)
       ST(1, 18) ST(1, 19) ST(1, 20) ST(1, 21) ST(1, 22) ST(1, 23) ST(1, 24) ST(1, 25) ST(1, 26)
       ST(1, 27) ST(1, 28) ST(1, 29) ST(1, 30) ST(1, 31) ST(1, 32) ST(1, 33) ST(1, 34) ST(1, 35)
       ST(1, 36) ST(1, 37) ST(1, 38) ST(1, 39) ST(1, 40) ST(1, 41) ST(1, 42) ST(1, 43) ST(1, 44)
       ST(1, 45) ST(1, 46) ST(1, 47) ST(1, 48) ST(1, 49) ST(1, 50) ST(1, 51) ST(1, 52) ST(1, 53)
       ST(1, 54) ST(1, 55) ST(1, 56) ST(1, 57) ST(1, 58) ST(1, 59) ST(1, 60) ST(1, 61) ST(1, 62)
       ST(1, 63))
KERNEL(run8_gap0, 32, ST(1, 0) CLOCK END ST(1, 1) CLOCK END ST(1, 2) CLOCK END ST(1, 3) CLOCK END
       ST(1, 4) CLOCK END ST(1, 5) CLOCK END ST(1, 6) CLOCK END ST(1, 7) CLOCK END)
KERNEL(row2, 2, ST(32, 0) ST(32, 1))
KERNEL(row4, 4, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3))
KERNEL(row8, 8, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3) ST(32, 4) ST(32, 5) ST(32, 6) ST(32, 7))
KERNEL(row16, 16, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3) ST(32, 4) ST(32, 5) ST(32, 6) ST(32, 7)
       ST(32, 8) ST(32, 9) ST(32, 10) ST(32, 11) ST(32, 12) ST(32, 13) ST(32, 14) ST(32, 15))
KERNEL(row32, 32, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3) ST(32, 4) ST(32, 5) ST(32, 6) ST(32, 7)
       ST(32, 8) ST(32, 9) ST(32, 10) ST(32, 11) ST(32, 12) ST(32, 13) ST(32, 14) ST(32, 15)
       ST(32, 16) ST(32, 17) ST(32, 18) ST(32, 19) ST(32, 20) ST(32, 21) ST(32, 22) ST(32, 23)
       ST(32, 24) ST(32, 25) ST(32, 26) ST(32, 27) ST(32, 28) ST(32, 29) ST(32, 30) ST(32, 31))
KERNEL(same8_8, 32, ST(8, 0) ST(8, 0) ST(8, 0) ST(8, 0) ST(8, 0) ST(8, 0) ST(8, 0) ST(8, 0))
KERNEL(w64_row8, 8, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3) ST(32, 4) ST(32, 5) ST(32, 6) ST(32,
       7))
KERNEL(w128_row2, 2, ST(32, 0) ST(32, 1))
KERNEL(w128_row4, 4, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3))
KERNEL(w128_row8, 8, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3) ST(32, 4) ST(32, 5) ST(32, 6) ST(32,
       7))
SAME(w128_same, 32, ST(8, 0))
KERNEL(w256_row2, 2, ST(32, 0) ST(32, 1))
KERNEL(w256_row4, 4, ST(32, 0) ST(32, 1) ST(32, 2) ST(32, 3))
KERNEL(w512_row2, 2, ST(32, 0) ST(32, 1))
SAME(w512_same, 32, ST(8, 0))
KERNEL(alt1_x4, 32, ST(1, 0) ST(1, 1024) ST(1, 1) ST(1, 1025) ST(1, 2) ST(1, 1026) ST(1, 3) ST(1,
       1027))
KERNEL(alt2_x4, 32, ST(2, 0) ST(2, 1024) ST(2, 1) ST(2, 1025) ST(2, 2) ST(2, 1026) ST(2, 3) ST(2,
       1027))
KERNEL(alt8_x4, 32, ST(8, 0) ST(8, 1024) ST(8, 1) ST(8, 1025) ST(8, 2) ST(8, 1026) ST(8, 3) ST(8,
       1027))
KERNEL(alt12, 32, ST(12, 0) ST(12, 1024) ST(12, 1) ST(12, 1025))
KERNEL(alt13, 32, ST(13, 0) ST(13, 1024) ST(13, 1) ST(13, 1025))
KERNEL(alt13_x4, 32, ST(13, 0) ST(13, 1024) ST(13, 1) ST(13, 1025) ST(13, 2) ST(13, 1026) ST(13,
       3) ST(13, 1027))
KERNEL(alt15, 32, ST(15, 0) ST(15, 1024) ST(15, 1) ST(15, 1025))
KERNEL(lines27, 32, ST(27, 0) ST(27, 1))
KERNEL(back2_alt1, 32, ST(2, 2048) ST(1, 0) ST(1, 32) ST(1, 1) ST(1, 33))
KERNEL(back4_alt1, 32, ST(4, 2048) ST(1, 0) ST(1, 32) ST(1, 1) ST(1, 33))
KERNEL(mid8_4, 32, ST(8, 0) ST(4, 2048) ST(8, 1))
KERNEL(back8_alt1, 32, ST(8, 2048) ST(1, 0) ST(1, 32) ST(1, 1) ST(1, 33))
KERNEL(back16_alt1, 32, ST(16, 2048) ST(1, 0) ST(1, 32) ST(1, 1) ST(1, 33))
KERNEL(mid8_16, 32, ST(8, 0) ST(16, 2048) ST(8, 1))
KERNEL(mid8_24, 32, ST(8, 0) ST(24, 2048) ST(8, 1))
KERNEL(w256_one2, 32, ST(1, 0) ST(1, 1))
KERNEL(w64_lines2_x2, 32, ST(2, 0) ST(2, 1))
KERNEL(w64_lines8_x2, 32, ST(8, 0) ST(8, 1))
KERNEL(w64_lines13_x2, 32, ST(13, 0) ST(13, 1))
KERNEL(w64_lines15_x2, 32, ST(15, 0) ST(15, 1))
KERNEL(w128_lines1_x2, 32, ST(1, 0) ST(1, 1))
KERNEL(w128_alt1, 32, ST(1, 0) ST(1, 2048) ST(1, 1) ST(1, 2049))
KERNEL(w128_lines2_x2, 32, ST(2, 0) ST(2, 1))
KERNEL(w128_alt2, 32, ST(2, 0) ST(2, 2048) ST(2, 1) ST(2, 2049))
KERNEL(w128_alt3, 32, ST(3, 0) ST(3, 2048) ST(3, 1) ST(3, 2049))
KERNEL(w128_lines4_x2, 32, ST(4, 0) ST(4, 1))
KERNEL(w128_alt4, 32, ST(4, 0) ST(4, 2048) ST(4, 1) ST(4, 2049))
KERNEL(w128_lines7_x2, 32, ST(7, 0) ST(7, 1))
KERNEL(w128_lines8_x2, 32, ST(8, 0) ST(8, 1))
KERNEL(w256_lines1_x2, 32, ST(1, 0) ST(1, 1))
KERNEL(w256_lines2_x2, 32, ST(2, 0) ST(2, 1))
KERNEL(w256_lines3_x2, 32, ST(3, 0) ST(3, 1))
KERNEL(w512_lines1_x2, 32, ST(1, 0) ST(1, 1))
