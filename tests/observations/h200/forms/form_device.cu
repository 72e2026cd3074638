// Accesses as to the registers of a device (.mmio), a fence of aliases, and a hint on local memory.
//
//! kernel form_device
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_device(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, r, s = 0;
    volatile int local[64];
    for (unsigned k = 0; k < 64; k++) local[k] = in[i + k];
    asm volatile("{ .reg .b64 a; cvta.to.local.u64 a, %0; prefetch.local.L1 [a]; }" :: "l"(&local[i & 31]));
    unsigned long long w, at = (unsigned long long)(in + 2 * i);
    asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(r) : "l"(at) : "memory"); s = s * 31 + r;
    asm volatile("ld.mmio.relaxed.sys.global.u64 %0, [%1];" : "=l"(w) : "l"(at) : "memory"); s = s * 31 + (unsigned)(w >> 32);
    asm volatile("ld.mmio.relaxed.sys.u32 %0, [%1];" : "=r"(r) : "l"(at + 4) : "memory"); s = s * 31 + r;
    asm volatile("ld.mmio.relaxed.sys.u8 %0, [%1];" : "=r"(r) : "l"(at + 5) : "memory"); s = s * 31 + r;
    asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" :: "l"(out + i), "r"(s + local[i & 63]) : "memory");
    asm volatile("fence.proxy.alias;" ::: "memory");
    asm volatile("st.mmio.relaxed.sys.u64 [%0], %1;" :: "l"(out + 2048 + 2 * i), "l"(w) : "memory");
    asm volatile("st.mmio.relaxed.sys.global.u8 [%0], %1;" :: "l"((char *)(out + 4096 + i)), "r"(r) : "memory");
}
