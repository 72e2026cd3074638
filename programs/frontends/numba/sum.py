"""Sum of each block's elements by pairs of neighbours in shared memory, compiled by Numba.

An array is seven parameters: two of the host's, elements, bytes of one, address, shape, stride.

    pip install --no-deps -r ../../exec/requirements.txt
    python sum.py > sum.ptx
"""

# //! title  Sum of a block by neighboured pairs (Numba)
# //! const  n = 1 << 14
# //! const  block = 256
# //! const  blocks = ceil_div(n, block)
# //! grid   = blocks
# //! block  = block
# //! buffer in: u32[n] = iota
# //! buffer out: u32[blocks] = fill(0)
# //! arg    0 = 0
# //! arg    1 = 0
# //! arg    2 = n
# //! arg    3 = 4
# //! arg    4 = in
# //! arg    5 = n
# //! arg    6 = 4
# //! arg    7 = 0
# //! arg    8 = 0
# //! arg    9 = blocks
# //! arg    10 = 4
# //! arg    11 = out
# //! arg    12 = blocks
# //! arg    13 = 4
# //! expect out[b] == block * block * b + block * (block - 1) / 2 for b in 0..n / block
# //! expect sum(out) == n * (n - 1) / 2

from numba import cuda, types, uint32, void

BLOCK = 256


def sum(data, out):
    sums = cuda.shared.array(BLOCK, uint32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    sums[t] = data[i] if i < data.size else 0
    stride = 1
    while stride < cuda.blockDim.x:
        cuda.syncthreads()
        if t % (2 * stride) == 0:
            sums[t] += sums[t + stride]
        stride *= 2
    if t == 0:
        out[cuda.blockIdx.x] = sums[0]


def main():
    array = types.Array(uint32, 1, "C")
    ptx, _ = cuda.compile_ptx(sum, void(array, array), cc=(7, 5), lineinfo=True)
    print(ptx.rstrip("\0"), end="")


if __name__ == "__main__":
    main()
