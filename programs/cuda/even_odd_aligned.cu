// even_odd.cu with the elements redistributed: of 64 neighbouring elements, one warp takes the 32
// even ones and the next warp the 32 odd ones. No warp diverges. The price: a warp's lanes access
// every other word, so each access needs twice the sectors; that is why this gains little.
//
// n should be a multiple of 64, and so should the block size.
//
//! kernel evenOddAligned
//! title  A + B on even, A - B on odd elements, by whole warps (nvcc)
//! const  n = 1 << 20
//! const  block = 256
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer a: s32[n] = random(1, 0..1000)
//! buffer b: s32[n] = random(2, 0..1000)
//! buffer c: s32[n] = fill(0)
//! arg    0 = a
//! arg    1 = b
//! arg    2 = c
//! arg    3 = n
//! expect c[i] == (i & 1) == 0 ? a[i] + b[i] : a[i] - b[i] for i in 0..n

extern "C" __global__ void evenOddAligned(const int *a, const int *b, int *c, unsigned int n)
{
    unsigned int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int odd = t / 32 % 2; // the same for the 32 lanes of a warp
    unsigned int i = t / 64 * 64 + 2 * (t % 32) + odd;
    if (i >= n)
        return;
    if (odd == 0)
        c[i] = a[i] + b[i];
    else
        c[i] = a[i] - b[i];
}
