"""Product of matrices by tl.dot, as a Triton kernel, without PyTorch.

    simt-sim exec --metrics warp_execution_efficiency -- python dot.py

For sm_90 Triton makes it of products of warpgroups (`wgmma`), whose factors are in shared memory;
with `--arch sm_80` of products of warps (`mma`).
"""

import ctypes

import numpy as np
import triton
import triton.language as tl

from softmax import Tensor, check, driver


@triton.jit
def dot(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    at_a = a + rows[:, None] * K + depth[None, :]
    at_b = b + depth[:, None] * N + columns[None, :]
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for _ in range(0, K, DEPTH):
        sums = tl.dot(tl.load(at_a), tl.load(at_b), sums)
        at_a += DEPTH
        at_b += DEPTH * N
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


def main():
    # Triton's launcher wants a context.
    check(driver.cuInit(0))
    context = ctypes.c_void_p()
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(driver.cuCtxSetCurrent(context))
    M, N, K = 128, 192, 256
    # Multiples of 1/8, so that all sums are exact.
    x = (np.arange(M * K).reshape(M, K) % 17 - 8).astype(np.float16) / 8
    y = (np.arange(K * N).reshape(K, N) % 13 - 6).astype(np.float16) / 8
    a, b, c = Tensor(x), Tensor(y), Tensor(np.zeros((M, N), np.float32))
    dot[(M // 64, N // 64)](a, b, c, M, N, K, ROWS=64, COLUMNS=64, DEPTH=64)
    expected = x.astype(np.float32) @ y.astype(np.float32)
    right = np.array_equal(c.numpy(), expected)
    print(f"{M} x {K} times {K} x {N}: {'right' if right else 'WRONG'}")


if __name__ == "__main__":
    main()
