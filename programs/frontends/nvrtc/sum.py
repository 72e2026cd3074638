"""Sum of each block's elements by pairs of neighbours in shared memory, compiled by NVRTC.

A program that makes its kernels while it runs fixes what it knows by then: here the block size.

    pip install --no-deps -r ../../exec/requirements.txt
    python sum.py > sum.ptx
"""

# //! title  Sum of a block by neighboured pairs (NVRTC)
# //! const  n = 1 << 14
# //! const  block = 256
# //! grid   = ceil_div(n, block)
# //! block  = block
# //! buffer in: u32[n] = iota
# //! buffer out: u32[ceil_div(n, block)] = fill(0)
# //! arg    0 = in
# //! arg    1 = out
# //! arg    2 = n
# //! expect out[b] == block * block * b + block * (block - 1) / 2 for b in 0..n / block
# //! expect sum(out) == n * (n - 1) / 2

from cuda.bindings import nvrtc

SOURCE = b"""
extern "C" __global__ void sum(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned sums[BLOCK];

    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * BLOCK + t;
    sums[t] = i < n ? in[i] : 0;

    #pragma unroll 1
    for (unsigned stride = 1; stride < BLOCK; stride *= 2) {
        __syncthreads();
        if (t % (2 * stride) == 0)
            sums[t] += sums[t + stride];
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}
"""


def checked(answer):
    code, *values = answer
    if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(nvrtc.nvrtcGetErrorString(code)[1].decode())
    return values[0] if values else None


def main():
    program = checked(nvrtc.nvrtcCreateProgram(SOURCE, b"sum.cu", 0, [], []))
    options = [b"-arch=compute_75", b"-lineinfo", b"-DBLOCK=256"]
    checked(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * checked(nvrtc.nvrtcGetPTXSize(program))
    checked(nvrtc.nvrtcGetPTX(program, ptx))
    print(ptx.decode().rstrip("\0"), end="")


if __name__ == "__main__":
    main()
