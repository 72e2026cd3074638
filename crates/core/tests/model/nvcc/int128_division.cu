// Quotients and remainders of 128-bit integers: nvcc writes chains in which `addc` reads the carry of `sub.cc`.
//
//! grid   = 8
//! block  = 128
//! buffer a: u64[2048]
//! buffer b: u64[2048] = fill(1)
//! buffer q: u64[2048]
//! buffer r: u64[2048]
//! buffer signed_q: u64[2048]
//! buffer signed_r: u64[2048]
//! arg    0 = a
//! arg    1 = b
//! arg    2 = q
//! arg    3 = r
//! arg    4 = signed_q
//! arg    5 = signed_r

typedef __int128 i128;
typedef unsigned __int128 u128;

extern "C" __global__ void divide(const u128 *a, const u128 *b, u128 *q, u128 *r, i128 *signed_q, i128 *signed_r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
    signed_q[i] = (i128)a[i] / (i128)b[i];
    signed_r[i] = (i128)a[i] % (i128)b[i];
}
