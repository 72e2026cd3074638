// A switch over scattered values; one case falls through into the next.
//
//! kernel switchSparse
//! title  Switch over scattered values (nvcc)
//! const  n = 128
//! const  block = 64
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = i % 6 == 0 ? 3 : i % 6 == 1 ? 100 : i % 6 == 2 ? 1_000_000 : i % 6 == 3 ? 4_000_000_000 : i for i
//! buffer out: u32[n] = fill(99)
//! arg    0 = in
//! arg    1 = out
//! expect out[i] == (in[i] == 3 ? i + 12 : in[i] == 100 ? i + 11 : in[i] == 1_000_000 ? 3 * i :
//!     in[i] == 4_000_000_000 ? 500 - i : 7) for i in 0..n

extern "C" __global__ void switchSparse(const unsigned int *in, unsigned int *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int r = i;

    switch (in[i]) {
    case 3u: r += 1; // falls through
    case 100u: r += 11; break;
    case 1000000u: r *= 3; break;
    case 4000000000u: r = 500 - r; break;
    default: r = 7;
    }
    out[i] = r;
}
