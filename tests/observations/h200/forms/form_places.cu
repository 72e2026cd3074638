// What a thread can ask about its place: special registers, and spaces of addresses.
//
//! kernel form_places
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
__constant__ int constants[4];
extern "C" __global__ void form_places(const int *in, int *out, const __grid_constant__ unsigned n) {
    __shared__ int words[100];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, r, s = 0;
    int own = in[i];
    // The warps of a block may have any numbers; together they have the first eight.
    words[0] = 0; __syncthreads();
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(r)); atomicOr(&words[0], 1 << (r & 31)); __syncthreads();
    s = words[0];
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); s = s * 31 + r;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); s = s * 31 + r;
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(r)); s = s * 31 + r;
    const void *places[] = {in, words, &own, &n, constants, nullptr};
    const void *at = places[(in[i] >> 3) % 6];
#define ASK(space) \
    asm volatile("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(at)); s = s * 31 + r;
    ASK("global") ASK("shared::cta") ASK("shared::cluster") ASK("local") ASK("const") ASK("param::entry")
    out[i] = s + own;
}
