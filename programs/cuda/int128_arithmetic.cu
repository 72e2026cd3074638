// 128-bit integers: sums and differences carry between halves (`add.cc`, `addc`), and products.
//
//! kernel int128
//! title  128-bit integers (nvcc)
//! const  n = 64
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer a: u64[n] = i % 2 == 0 ? i : 0xffffffffffffffff - i for i
//! buffer b: u64[n] = iota(0, 2)
//! buffer sum_lo: u64[n] = fill(99)
//! buffer sum_hi: u64[n] = fill(99)
//! buffer difference_hi: u64[n] = fill(99)
//! buffer product_hi: u64[n] = fill(99)
//! arg    0 = a
//! arg    1 = b
//! arg    2 = sum_lo
//! arg    3 = sum_hi
//! arg    4 = difference_hi
//! arg    5 = product_hi
//! expect sum_lo[i] == (i % 2 == 0 ? 3 * i : i - 1) for i in 0..n
//! expect sum_hi[i] == 12 + i % 2 for i in 0..n
//! expect difference_hi[i] == 2 - i % 2 for i in 0..n
//! expect product_hi[i] == 10 * i + (i % 2) * (2 * i - 1) for i in 0..n

extern "C" __global__ void int128(const unsigned long long *a, const unsigned long long *b, unsigned long long *sum_lo,
                                  unsigned long long *sum_hi, unsigned long long *difference_hi, unsigned long long *product_hi)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned __int128 x = (unsigned __int128)5 << 64 | a[i];
    unsigned __int128 y = (unsigned __int128)7 << 64 | b[i];
    unsigned __int128 sum = x + y;
    unsigned __int128 difference = y - x;
    unsigned __int128 product = x * b[i];

    sum_lo[i] = (unsigned long long)sum;
    sum_hi[i] = (unsigned long long)(sum >> 64);
    difference_hi[i] = (unsigned long long)(difference >> 64);
    product_hi[i] = (unsigned long long)(product >> 64);
}
