// Groups of four or sixteen matrix products of one or two warpgroups, of 8 to 256 columns. Warp w leaves the cycles until its last product has been issued in t[2 * w], and until
// all are done in t[2 * w + 1]. products.csv has those of an H200 (driver 580.159.04), of the second
// launch of two; the means of warps.
//
//! grid   = 1
//! block  = 128
//! buffer t: u32[32] = fill(0)
//! arg    0 = t

#define KERNEL(name) extern "C" __global__ void name(unsigned *t)
#define DO_4(p) p(); p(); p(); p()
#define DO_16(p) DO_4(p); DO_4(p); DO_4(p); DO_4(p)
#define F(i) "+f"(f[i])

__device__ unsigned long long descriptor(const void *at, unsigned swizzle, unsigned stride) {
    unsigned address = (unsigned)__cvta_generic_to_shared(at);
    return (address & 0x3ffff) >> 4 | 1ull << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)swizzle << 62;
}

// Rows of A and columns of B have 128 bytes, swizzled, so that no bank is asked twice.
#define BODY(count, product, times)                                                                \
    __shared__ __align__(1024) unsigned s[10240];                                                  \
    for (int i = threadIdx.x; i < 10240; i += blockDim.x) s[i] = 0x3c003c00;                       \
    asm volatile("fence.proxy.async;" ::: "memory");                                               \
    unsigned long long a = descriptor(s, 1, 1024), b = descriptor(s + 2048, 1, 1024);              \
    unsigned r[4] = {0x3c003c00, 0, 0, 0};                                                        \
    float f[count];                                                                                \
    for (int i = 0; i < count; i++) f[i] = 0;                                                      \
    __syncthreads();                                                                               \
    unsigned start = clock();                                                                      \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                        \
    times(product);                                                                                \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                 \
    unsigned issued = clock();                                                                     \
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");                                 \
    unsigned done = clock();                                                                       \
    unsigned warp = threadIdx.x / 32;                                                              \
    if (threadIdx.x % 32 == 0) t[2 * warp] = issued - start, t[2 * warp + 1] = done - start;       \
    if (f[0] < 0) t[0] = 0;

#define PRODUCT_MEMORY_8() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3" \
                 "}, %4, %5, 1, 1, 1, 0, 0;" \
                 : F(0), F(1), F(2), F(3) \
                 : "l"(a), "l"(b))
KERNEL(memory_8_4) { BODY(4, PRODUCT_MEMORY_8, DO_4) }
KERNEL(memory_8_16) { BODY(4, PRODUCT_MEMORY_8, DO_16) }

#define PRODUCT_MEMORY_32() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15" \
                 "}, %16, %17, 1, 1, 1, 0, 0;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15) \
                 : "l"(a), "l"(b))
KERNEL(memory_32_4) { BODY(16, PRODUCT_MEMORY_32, DO_4) }
KERNEL(memory_32_16) { BODY(16, PRODUCT_MEMORY_32, DO_16) }

#define PRODUCT_MEMORY_64() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20," \
                 "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31" \
                 "}, %32, %33, 1, 1, 1, 0, 0;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), \
                   F(25), F(26), F(27), F(28), F(29), F(30), F(31) \
                 : "l"(a), "l"(b))
KERNEL(memory_64_4) { BODY(32, PRODUCT_MEMORY_64, DO_4) }
KERNEL(memory_64_16) { BODY(32, PRODUCT_MEMORY_64, DO_16) }

#define PRODUCT_MEMORY_128() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20," \
                 "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39," \
                 "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58," \
                 "%59,%60,%61,%62,%63" \
                 "}, %64, %65, 1, 1, 1, 0, 0;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), \
                   F(25), F(26), F(27), F(28), F(29), F(30), F(31), F(32), F(33), F(34), F(35), F(36), \
                   F(37), F(38), F(39), F(40), F(41), F(42), F(43), F(44), F(45), F(46), F(47), F(48), \
                   F(49), F(50), F(51), F(52), F(53), F(54), F(55), F(56), F(57), F(58), F(59), F(60), \
                   F(61), F(62), F(63) \
                 : "l"(a), "l"(b))
KERNEL(memory_128_4) { BODY(64, PRODUCT_MEMORY_128, DO_4) }
KERNEL(memory_128_16) { BODY(64, PRODUCT_MEMORY_128, DO_16) }

#define PRODUCT_MEMORY_256() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20," \
                 "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39," \
                 "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58," \
                 "%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77," \
                 "%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96," \
                 "%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
                 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126," \
                 "%127" \
                 "}, %128, %129, 1, 1, 1, 0, 0;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), \
                   F(25), F(26), F(27), F(28), F(29), F(30), F(31), F(32), F(33), F(34), F(35), F(36), \
                   F(37), F(38), F(39), F(40), F(41), F(42), F(43), F(44), F(45), F(46), F(47), F(48), \
                   F(49), F(50), F(51), F(52), F(53), F(54), F(55), F(56), F(57), F(58), F(59), F(60), \
                   F(61), F(62), F(63), F(64), F(65), F(66), F(67), F(68), F(69), F(70), F(71), F(72), \
                   F(73), F(74), F(75), F(76), F(77), F(78), F(79), F(80), F(81), F(82), F(83), F(84), \
                   F(85), F(86), F(87), F(88), F(89), F(90), F(91), F(92), F(93), F(94), F(95), F(96), \
                   F(97), F(98), F(99), F(100), F(101), F(102), F(103), F(104), F(105), F(106), F(107), \
                   F(108), F(109), F(110), F(111), F(112), F(113), F(114), F(115), F(116), F(117), \
                   F(118), F(119), F(120), F(121), F(122), F(123), F(124), F(125), F(126), F(127) \
                 : "l"(a), "l"(b))
KERNEL(memory_256_4) { BODY(128, PRODUCT_MEMORY_256, DO_4) }
KERNEL(memory_256_16) { BODY(128, PRODUCT_MEMORY_256, DO_16) }

#define PRODUCT_REGISTERS_8() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3" \
                 "}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" \
                 : F(0), F(1), F(2), F(3) \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b))
KERNEL(registers_8_4) { BODY(4, PRODUCT_REGISTERS_8, DO_4) }
KERNEL(registers_8_16) { BODY(4, PRODUCT_REGISTERS_8, DO_16) }

#define PRODUCT_REGISTERS_32() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15" \
                 "}, {%16,%17,%18,%19}, %20, 1, 1, 1, 0;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15) \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b))
KERNEL(registers_32_4) { BODY(16, PRODUCT_REGISTERS_32, DO_4) }
KERNEL(registers_32_16) { BODY(16, PRODUCT_REGISTERS_32, DO_16) }

#define PRODUCT_REGISTERS_128() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20," \
                 "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39," \
                 "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58," \
                 "%59,%60,%61,%62,%63" \
                 "}, {%64,%65,%66,%67}, %68, 1, 1, 1, 0;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), \
                   F(25), F(26), F(27), F(28), F(29), F(30), F(31), F(32), F(33), F(34), F(35), F(36), \
                   F(37), F(38), F(39), F(40), F(41), F(42), F(43), F(44), F(45), F(46), F(47), F(48), \
                   F(49), F(50), F(51), F(52), F(53), F(54), F(55), F(56), F(57), F(58), F(59), F(60), \
                   F(61), F(62), F(63) \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b))
KERNEL(registers_128_4) { BODY(64, PRODUCT_REGISTERS_128, DO_4) }
KERNEL(registers_128_16) { BODY(64, PRODUCT_REGISTERS_128, DO_16) }

#define PRODUCT_BYTES_64() \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" \
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20," \
                 "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31" \
                 "}, %32, %33, 1, 1, 1;" \
                 : F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), \
                   F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), \
                   F(25), F(26), F(27), F(28), F(29), F(30), F(31) \
                 : "l"(a), "l"(b))
KERNEL(bytes_64_4) { BODY(32, PRODUCT_BYTES_64, DO_4) }
KERNEL(bytes_64_16) { BODY(32, PRODUCT_BYTES_64, DO_16) }

