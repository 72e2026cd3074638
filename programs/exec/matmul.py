"""Product of two matrices, tile by tile through shared memory, as a Numba kernel.

    simt-sim exec --metrics shared_load_transactions,gld_efficiency -- python matmul.py
"""

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit(lineinfo=True)
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for step in range((a.shape[1] + TILE - 1) // TILE):
        tile_a[ty, tx] = 0
        tile_b[ty, tx] = 0
        if y < a.shape[0] and tx + step * TILE < a.shape[1]:
            tile_a[ty, tx] = a[y, tx + step * TILE]
        if x < b.shape[1] and ty + step * TILE < b.shape[0]:
            tile_b[ty, tx] = b[ty + step * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def main():
    # Whole numbers, so that the order of additions does not show.
    a = np.fromfunction(lambda i, j: (i * 3 + j) % 7, (40, 50)).astype(np.float32)
    b = np.fromfunction(lambda i, j: (i + 5 * j) % 11, (50, 30)).astype(np.float32)
    c = np.zeros((40, 30), dtype=np.float32)
    matmul[(2, 3), (TILE, TILE)](a, b, c)
    wrong = int((c != a @ b).sum())
    print(f"{c.shape[0]} x {c.shape[1]}, {wrong} wrong, trace {c[:30].trace():.0f}")


if __name__ == "__main__":
    main()
