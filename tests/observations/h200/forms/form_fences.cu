// Fences of all scopes, volatile and relaxed accesses, sleep, clocks, special registers.
//
//! kernel form_fences
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_fences(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    unsigned a, b, lanes, v = in[i];
    asm volatile("mov.u32 %0, %%clock;" : "=r"(a));
    out[4096 + i] = v;
    __threadfence_block();
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    out[8192 + i] = v + 1;
    __threadfence();
    asm volatile("fence.sc.cta;" ::: "memory");
    out[12288 + i] = v + 2;
    __threadfence_system();
    asm volatile("fence.proxy.async;" ::: "memory");
    __nanosleep(20);
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" :: "l"(out + 16384 + i), "r"(v) : "memory");
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(b) : "l"(out + 16384 + i) : "memory");
    volatile int *o = out; o[20480 + i] = o[16384 + i] + 1;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    unsigned c, e; unsigned long long f, g;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(f)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(c)); asm volatile("mov.u32 %0, %%smid;" : "=r"(e));
    if (in[i] < 0) __trap();
    asm volatile("griddepcontrol.launch_dependents;"); asm volatile("griddepcontrol.wait;" ::: "memory");
    out[i] = b + lanes + (c == a) + (f == 0) + (g == 0) + (e > 10000);
}
