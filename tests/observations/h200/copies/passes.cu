// Copies from global to shared memory by one warp, sixteen times each: ncu counts their passes over
// the banks, smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts, of which passes.txt has
// a sixteenth. A host program launches a kernel for each line of passes.txt.

struct Places {
    int from[32], to[32];
    unsigned lanes;
};

#define COPIES(NAME, COPY)                                                                        \
    extern "C" __global__ void NAME(const char *source, Places places, int *out)                  \
    {                                                                                             \
        extern __shared__ __align__(128) char shared[];                                           \
        const char *from = source + places.from[threadIdx.x];                                     \
        unsigned to = (unsigned)__cvta_generic_to_shared(shared) + places.to[threadIdx.x];        \
        if (places.lanes >> threadIdx.x & 1)                                                      \
            for (int i = 0; i < 16; i++)                                                          \
                asm volatile(COPY ::"r"(to), "l"(from) : "memory");                               \
        asm volatile("cp.async.wait_all;" ::: "memory");                                          \
        __syncthreads();                                                                          \
        if (threadIdx.x == 0)                                                                     \
            *out = shared[places.to[0]];                                                          \
    }

COPIES(ca4, "cp.async.ca.shared.global [%0], [%1], 4;")
COPIES(ca8, "cp.async.ca.shared.global [%0], [%1], 8;")
COPIES(ca16, "cp.async.ca.shared.global [%0], [%1], 16;")
COPIES(cg16, "cp.async.cg.shared.global [%0], [%1], 16;")
