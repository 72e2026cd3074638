// Asynchronous copies of all sizes, with zeros, in groups.
//
//! kernel form_async_copy
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_async_copy(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    __shared__ __align__(16) int s[2048];
    unsigned at = (unsigned)__cvta_generic_to_shared(s) ;
    const int *g = in + 4 * i;
    for (int j = 0; j < 8; j++) s[t + 256 * j] = -1;
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at + 4 * t), "l"(g) : "memory");
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(at + 1024 + 8 * (t & 127)), "l"(in + 2 * (t & 127)) : "memory");
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at + 2048 + 16 * t), "l"(g), "r"((t & 3) * 4) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(at + 6144 + 4 * t), "l"(g), "r"((t & 1) * 4) : "memory");
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    int a = s[t];
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[i] = a + s[256 + t] * 3 + s[512 + (t * 7 & 1023)] * 5 + s[1536 + t] * 9;
}
