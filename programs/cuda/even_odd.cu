// Adds on even elements, subtracts on odd ones, one thread per element: neighbouring lanes diverge
// in every warp. Compare even_odd_aligned.cu, which assigns the same work to whole warps.
//
// Each side is one addition or subtraction and a store; nvcc keeps the branch in PTX, ptxas may
// predicate both sides instead.
//
//! kernel evenOdd
//! title  A + B on even, A - B on odd elements, by neighbouring lanes (nvcc)
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

extern "C" __global__ void evenOdd(const int *a, const int *b, int *c, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i % 2 == 0)
        c[i] = a[i] + b[i];
    else
        c[i] = a[i] - b[i];
}
