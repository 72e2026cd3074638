"""Sum of n integers by neighbored pairs, as a Numba kernel.

    pip install -r requirements.txt
    simt-sim exec --metrics inst_per_warp,divergent_branch -- python reduce.py [n]
"""

import sys

import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def reduce_neighbored(data, out, n):
    tid = cuda.threadIdx.x
    start = cuda.blockIdx.x * cuda.blockDim.x
    if start + tid >= n:
        return
    stride = 1
    while stride < cuda.blockDim.x:
        if tid % (2 * stride) == 0:
            data[start + tid] += data[start + tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        out[cuda.blockIdx.x] = data[start]


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 14
    block = 512
    grid = (n + block - 1) // block
    host = (np.arange(n, dtype=np.int32) * 7919 + 13) & 0xFF
    data = cuda.to_device(host)
    out = cuda.device_array(grid, dtype=np.int32)
    start, stop = cuda.event(), cuda.event()
    start.record()
    reduce_neighbored[grid, block](data, out, n)
    stop.record()
    stop.synchronize()
    total = int(out.copy_to_host().sum())
    print(f"n {n}, grid {grid}, cpu {int(host.sum())}, gpu {total}")
    print("equal" if total == int(host.sum()) else "WRONG")
    print("took time" if cuda.event_elapsed_time(start, stop) > 0 else "took NO time")


if __name__ == "__main__":
    main()
