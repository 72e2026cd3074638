// A device function that is not inlined, called from both sides of a branch that splits every warp:
// its instructions issue once per side, and the lanes reconverge after the `if`.
//
//! kernel callNoinline
//! title  Calls from both arms of a branch (nvcc)
//! const  n = 128
//! const  block = 64
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = iota(0, 5)
//! buffer out: u32[n] = fill(99)
//! arg    0 = in
//! arg    1 = out
//! expect out[i] == (i & 1 != 0 ? 11 * (in[i] + 3) % 1009 : 11 * (in[i] ^ 7) % 1009 + i) for i in 0..n
//! expect metric divergent_branch == n / 32

__device__ __noinline__ unsigned int scaled(unsigned int x)
{
    return 11 * x % 1009;
}

extern "C" __global__ void callNoinline(const unsigned int *in, unsigned int *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int x = in[i];

    if (i & 1)
        out[i] = scaled(x + 3);
    else
        out[i] = scaled(x ^ 7) + i;
}
