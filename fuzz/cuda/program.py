"""The part of a CUDA program that random kernels of any kind share: input, launches, hashes.

A kernel has the parameters ARGUMENTS, runs with GRID blocks of BLOCK threads, and writes a number
to `out[tid]`. The program prints a hash of each kernel's numbers, with the argument N all numbers
of kernel N.
"""

import random
import sys
import textwrap

GRID, BLOCK, ROWS = 2, 64, 6

INCLUDES = "cstdio cstdlib cstring".split()

TYPES = "typedef unsigned long long u64;\n"

COMMON = r"""
__device__ u64 mix(u64 s, u64 v) { s = (s ^ v) * 0x9e3779b97f4a7c15; return s ^ s >> 29; }
#define ARGUMENTS const unsigned *in, u64 *out, unsigned n
"""

MAIN = r"""
static void (*kernels[])(ARGUMENTS) = {KERNELS};
int main(int count, char **arguments) {
PREPARATION  const unsigned n = THREADS, SPECIAL[] = {
      0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000,
      0x807fffff, 0x00800000, 0x7f7fffff, 0x4b000000, 0x3c003c00, 0x7c00fc00, 0x40490fdb};
  unsigned in[ROWS * n], s = SEED, *from;
  u64 results[n], *to;
  for (unsigned &value : in) {
    s = s * 1664525u + 1013904223u;
    value = s ^ s >> 13;
    unsigned kind = (s >> 8) % 5;
    if (kind == 0) value = SPECIAL[(s >> 16) % 16];
    if (kind == 1) value = 0x3f000000 + (s >> 5) % 0x5000000;
  }
BUFFERS
  int only = count > 1 ? atoi(arguments[1]) : -1, number = 0;
  for (auto kernel : kernels) {
    int k = number++;
    if (only >= 0 && k != only) continue;
    cudaMemset(to, 0, sizeof results);
    kernel<<<GRID, BLOCK>>>(from, to, n);
    cudaError_t failed = cudaGetLastError();
    if (!failed) failed = cudaMemcpy(results, to, sizeof results, cudaMemcpyDeviceToHost);
    u64 all = 0;
    for (u64 result : results) all = (all ^ result) * 0x9e3779b97f4a7c15;
    printf("k%d %016llx%s\n", k, all, failed ? cudaGetErrorString(failed) : "");RECOVERY
    for (unsigned i = 0; only >= 0 && i < n; i++) printf("%u %016llx\n", i, results[i]);
  }
}
"""

BUFFERS = """\
  cudaMalloc(&from, sizeof in);
  cudaMalloc(&to, sizeof results);
  cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);"""


def text(seed, kernels, headers, functions, inputs="", stack=0):
    """Returns a program: the headers it includes, functions of the device, a macro of inputs, the
    texts of its kernels. With the bytes of a `stack`, later kernels run after one that faults."""
    head = "".join(f"#include <{name}>\n" for name in INCLUDES + headers)
    limit, recovery = "", ""
    if stack:
        limit = f"  cudaDeviceSetLimit(cudaLimitStackSize, {stack});\n"
        again = textwrap.indent(f"  cudaDeviceReset();\n{limit}{BUFFERS}", "    ")
        recovery = f"\n    if (failed) {{\n{again}\n    }}"
    main = MAIN
    for name, value in [("RECOVERY", recovery), ("PREPARATION", limit), ("BUFFERS", BUFFERS),
                        ("KERNELS", ", ".join(f"k{k}" for k in range(len(kernels)))),
                        ("THREADS", GRID * BLOCK), ("GRID", GRID), ("BLOCK", BLOCK),
                        ("ROWS", ROWS), ("SEED", f"{seed * 7919 + 1}u")]:
        main = main.replace(name, str(value))
    parts = [head, TYPES, functions, COMMON, inputs, *kernels]
    return "".join(part.lstrip("\n") for part in parts) + main


def write(usage, make):
    """Prints the program that `make(draw, seed, count)` makes of the command line's numbers."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    print(make(random.Random(seed), seed, count), end="")
