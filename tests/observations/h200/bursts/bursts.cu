// Cycles in which each warp of a block issues K accesses in sequence, all of 32 lines (stores to
// global memory) or of 32 passes over the banks (loads from shared memory). bursts.csv has those of
// an H100 in the third of three launches (driver 580.159.04, nvcc 13.0.88).
//
//! grid   = 1
//! block  = 128
//! buffer out: u32[2097152] = fill(0)
//! buffer t: s64[8] = fill(0)
//! arg    0 = out
//! arg    1 = t
//! arg    2 = 32

template <int K, int N>
struct Put {
    static __device__ __forceinline__ void go(unsigned long long a, unsigned v) {
        asm volatile("st.global.u32 [%0+%2], %1;" ::"l"(a), "r"(v), "n"(N * 16384) : "memory");
        Put<K, N + 1>::go(a, v);
    }
};
template <int K>
struct Put<K, K> {
    static __device__ __forceinline__ void go(unsigned long long, unsigned) {}
};
template <int K, int N>
struct Get {
    static __device__ __forceinline__ void go(unsigned s, unsigned *r) {
        asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(r[N]) : "r"(s), "n"(N * 4) : "memory");
        Get<K, N + 1>::go(s, r);
    }
};
template <int K>
struct Get<K, K> {
    static __device__ __forceinline__ void go(unsigned, unsigned *) {}
};

__device__ __forceinline__ void rest() {
    long long from = clock64();
    while (clock64() - from < 6000) {}
    __syncthreads();
}

template <int K>
__device__ __forceinline__ void store(unsigned *out, long long *t, int stride) {
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned long long a = (unsigned long long)(out + warp * (1 << 18) + lane * stride);
    long long before, after;
    rest();
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(before)::"memory");
    Put<K, 0>::go(a, lane);
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(after)::"memory");
    t[warp] = after - before;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(a), "r"(lane) : "memory");
}

template <int K>
__device__ __forceinline__ void load(unsigned *out, long long *t, int stride) {
    __shared__ unsigned mem[8192];
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, r[K], x = 0;
    unsigned s = (unsigned)__cvta_generic_to_shared(mem + lane * stride % 4096 + 32 * (warp & 7));
    for (int i = 0; i < K; i++) r[i] = 0;
    long long before, after;
    rest();
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(before)::"memory");
    Get<K, 0>::go(s, r);
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(after)::"memory");
    for (int i = 0; i < K; i++) x ^= r[i];
    t[warp] = after - before;
    out[warp * (1 << 18) + lane] = x + s;
}

#define BURST(name, access, K) \
    extern "C" __global__ void name(unsigned *out, long long *t, int stride) { access<K>(out, t, stride); }
BURST(stores16, store, 16)
BURST(stores20, store, 20)
BURST(stores32, store, 32)
BURST(loads16, load, 16)
BURST(loads20, load, 20)
BURST(loads32, load, 32)
