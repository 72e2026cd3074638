"""Shuffles, votes and atomics, which Numba's own simulator does not know: a scan of each warp.

    simt-sim exec --checks -- python warps.py
"""

import numpy as np
from numba import cuda


@cuda.jit
def scan(data, out, even, largest):
    i = cuda.grid(1)
    lane = cuda.laneid
    value = data[i]
    offset = 1
    while offset < 32:
        other = cuda.shfl_up_sync(0xFFFFFFFF, value, offset)
        if lane >= offset:
            value += other
        offset *= 2
    out[i] = value
    ballot = cuda.ballot_sync(0xFFFFFFFF, data[i] % 2 == 0)
    if lane == 0:
        cuda.atomic.add(even, 0, cuda.popc(ballot))
    cuda.atomic.max(largest, 0, data[i])


def main():
    data = (np.arange(256, dtype=np.int32) * 37) % 101
    out = np.zeros_like(data)
    even = np.zeros(1, dtype=np.int32)
    largest = np.zeros(1, dtype=np.int32)
    scan[2, 128](data, out, even, largest)
    expected = data.reshape(-1, 32).cumsum(axis=1).reshape(-1)
    print(f"scan: {int((out != expected).sum())} wrong")
    print(f"even: {even[0]} of {int((data % 2 == 0).sum())}")
    print(f"largest: {largest[0]} of {data.max()}")


if __name__ == "__main__":
    main()
