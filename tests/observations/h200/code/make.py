#!/usr/bin/env python3
"""Writes code.cu: two kernels of straight code, in sections of 122 dependent products and a clock.

    python3 make.py && nvcc -cubin -O3 -arch=sm_90 code.cu -o code.cubin
"""
PRODUCT = 'asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));\n'
CLOCK = 'asm volatile("mov.u32 %0, %%clock;" : "=r"(t));\n'
STORE = 'asm volatile("st.global.u32 [%%0], %%1;" :: "l"(p + %d), "r"(t));\n'

with open("code.cu", "w") as file:
    for sections in (64, 256):
        file.write(
            'extern "C" __global__ void code%d(unsigned *out, unsigned a, unsigned b) {\n'
            "unsigned x = threadIdx.x, t, *p = out + blockIdx.x * %d;\n" % (sections, sections + 1)
        )
        file.write(CLOCK + STORE % 0)
        for section in range(sections):
            file.write(PRODUCT * 122 + CLOCK + STORE % (section + 1))
        file.write("if (x == 12345) out[0] = x;\n}\n")
