"""Product of matrices by tiles that the tensor unit copies (TMA), as a Triton kernel, without
PyTorch.

    simt-sim exec --metrics bulk_read_bytes -- python tiles.py

The kernel describes the matrices itself (`tl.make_tensor_descriptor`): its machine code writes a
tensor map to memory that the allocator gives, then copies tiles by it (`UTMALDG`, `UTMASTG`).
"""

import ctypes

import numpy as np
import triton
import triton.language as tl

from softmax import Tensor, check, driver


@triton.jit
def dot(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [ROWS, DEPTH])
    of_b = tl.make_tensor_descriptor(b, [K, N], [N, 1], [DEPTH, COLUMNS])
    of_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [ROWS, COLUMNS])
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for depth in range(0, K, DEPTH):
        sums = tl.dot(of_a.load([row, depth]), of_b.load([depth, column]), sums)
    of_c.store([row, column], sums)


def main():
    # Triton's launcher wants a context.
    check(driver.cuInit(0))
    context = ctypes.c_void_p()
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(driver.cuCtxSetCurrent(context))
    scratch = []

    def allocate(size, align, stream):
        scratch.append(Tensor(np.zeros(size, np.uint8)))
        return scratch[-1]

    triton.set_allocator(allocate)
    # The last tiles of rows and columns are in part outside of the matrices.
    M, N, K = 120, 184, 256
    # Multiples of 1/8, so that all sums are exact.
    x = (np.arange(M * K).reshape(M, K) % 17 - 8).astype(np.float16) / 8
    y = (np.arange(K * N).reshape(K, N) % 13 - 6).astype(np.float16) / 8
    a, b, c = Tensor(x), Tensor(y), Tensor(np.zeros((M, N), np.float32))
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    dot[grid](a, b, c, M, N, K, ROWS=64, COLUMNS=64, DEPTH=64)
    right = np.array_equal(c.numpy(), x.astype(np.float32) @ y.astype(np.float32))
    print(f"{M} x {K} times {K} x {N}: {'right' if right else 'WRONG'}")


if __name__ == "__main__":
    main()
