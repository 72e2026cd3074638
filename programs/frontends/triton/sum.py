"""Sum of each block's elements, compiled by Triton, which has no threads: `tl.sum` adds a tile.

    pip install --no-deps -r ../../exec/requirements.txt
    python sum.py > sum.ptx
"""

# //! title  Sum of a block by shuffles (Triton)
# //! const  n = 1 << 14
# //! const  block = 256
# //! grid   = ceil_div(n, block)
# //! block  = block
# //! shared = 32
# //! buffer in: u32[n] = iota
# //! buffer out: u32[ceil_div(n, block)] = fill(0)
# //! arg    0 = in
# //! arg    1 = out
# //! arg    2 = n
# //! arg    3 = 0
# //! arg    4 = 0
# //! expect out[b] == block * block * b + block * (block - 1) / 2 for b in 0..n / block
# //! expect sum(out) == n * (n - 1) / 2

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def sum(source, out, n, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(source + i, mask=i < n, other=0)
    tl.store(out + block, tl.sum(tile, axis=0))


def main():
    types = {"source": "*u32", "out": "*u32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(sum, types, {"BLOCK": 256})
    target = GPUTarget("cuda", 75, 32)
    made = triton.compile(source, target=target, options={"num_warps": 8})
    print(made.asm["ptx"], end="")


if __name__ == "__main__":
    main()
