// Accesses to surfaces in machine code: a kernel for each instruction, with its name. The objects,
// places, values and results are those of tests/suite/surfaces.rs, which compares with a GPU.
#define KERNEL(name, body)                                                                  \
    extern "C" __global__ void name(unsigned long long s, const int4 *places,               \
                                    const uint4 *values, uint4 *out, const void *texels,    \
                                    int n)                                                  \
    {                                                                                       \
        int first = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        _Pragma("unroll 1")                                                                 \
        for (int i = first; i < n; i += gridDim.x * blockDim.x) {                           \
            int4 p = places[i];                                                             \
            body                                                                            \
        }                                                                                   \
    }

#define AT_2d "[%1, {%2, %3}]"
#define AT_3d "[%1, {%2, %3, %4, %4}]"
#define AT_a2d "[%1, {%5, %2, %3, %3}]"
#define PLACE "l"(s), "r"(p.x), "r"(p.y), "r"(p.z), "r"(p.w)

#define LOAD(geometry, bits, outside, type, constraint)                                     \
    KERNEL(suld_b_##geometry##_##bits##_##outside, {                                        \
        type r;                                                                             \
        asm volatile("suld.b." #geometry "." #bits "." #outside " %0, " AT_##geometry ";"   \
                     : "=" constraint(r) : PLACE);                                          \
        out[i] = make_uint4(r, 0, 0, 0);                                                    \
    })
LOAD(2d, b8, zero, unsigned short, "h")
LOAD(2d, b16, clamp, unsigned short, "h")
LOAD(a2d, b32, clamp, unsigned, "r")
KERNEL(suld_b_2d_v4b32_clamp, {
    uint4 r;
    asm volatile("suld.b.2d.v4.b32.clamp {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(s), "r"(p.x), "r"(p.y));
    out[i] = r;
})

#define STORE(op, name, geometry, bits, outside, value, constraint)                         \
    KERNEL(name##_##geometry##_##bits##_##outside, {                                        \
        asm volatile(op "." #geometry "." #bits "." #outside " " AT_##geometry ", {%0};"    \
                     :: constraint(value), PLACE);                                          \
    })
STORE("sust.b", sust_b, 2d, b8, clamp, (unsigned short)values[i].x, "h")
STORE("sust.b", sust_b, 2d, b64, zero, *(unsigned long long *)&values[i], "l")
STORE("sust.b", sust_b, 3d, b32, clamp, values[i].x, "r")
STORE("sust.p", sust_p, 2d, b32, zero, values[i].x, "r")
KERNEL(sust_p_2d_v2b32_clamp, {
    uint4 v = values[i];
    asm volatile("sust.p.2d.v2.b32.clamp [%1, {%2, %3}], {%0, %4};"
                 :: "r"(v.x), "l"(s), "r"(p.x), "r"(p.y), "r"(v.y));
})
#define FOUR(geometry, outside)                                                             \
    KERNEL(sust_p_##geometry##_v4b32_##outside, {                                           \
        uint4 v = values[i];                                                                \
        asm volatile("sust.p." #geometry ".v4.b32." #outside " " AT_##geometry              \
                     ", {%0, %6, %7, %8};"                                                  \
                     :: "r"(v.x), PLACE, "r"(v.y), "r"(v.z), "r"(v.w));                     \
    })
FOUR(2d, zero)
FOUR(a2d, clamp)

#define REDUCE(kind, f, type, outside, value, constraint)                                   \
    KERNEL(sured_##kind##_2d_##f##type##_##outside, {                                       \
        asm volatile("sured." #kind "." #f ".2d." #type "." #outside " [%1, {%2, %3}], %0;" \
                     :: constraint(value), "l"(s), "r"(p.x), "r"(p.y));                     \
    })
REDUCE(b, add, u32, clamp, values[i].x, "r")
REDUCE(b, min, s32, trap, values[i].x, "r")
REDUCE(b, max, u64, trap, *(unsigned long long *)&values[i], "l")
REDUCE(p, add, b32, zero, values[i].x, "r")
REDUCE(p, max, b32, zero, values[i].x, "r")
