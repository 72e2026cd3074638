"""Sums of an array in CuPy: by the library, and by a kernel of your own.

    simt-sim exec --metrics warp_execution_efficiency -- python cupy_sums.py

The library's sum is machine code that CuPy's wheel brings along; NVRTC compiles the other kernels.
"""

import cupy as cp

SOURCE = r"""
extern "C" __global__ void neighbored(int *x)
{
    int *block = x + blockIdx.x * blockDim.x;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0)
            block[threadIdx.x] += block[threadIdx.x + stride];
        __syncthreads();
    }
}
"""

BLOCK = 128

numbers = cp.arange(4096, dtype=cp.int32) % 100
print("library:", int(numbers.sum()))

partial = numbers.copy()
neighbored = cp.RawKernel(SOURCE, "neighbored")
neighbored((numbers.size // BLOCK,), (BLOCK,), (partial,))
print("neighbored pairs:", int(partial[::BLOCK].sum()))

largest = cp.sort(numbers)[-3:]
print("largest:", largest, "mean:", float(numbers.mean()))
print("above 90:", int(cp.count_nonzero(numbers > 90)))
