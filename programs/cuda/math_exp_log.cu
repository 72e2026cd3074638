// Exponentials and logarithms of doubles at corner cases: zeros, infinities, NaN, denormals,
// overflow, underflow and values near 1. nvcc inlines the library code: polynomials of `fma` and a
// seed for division. Tests compare all bits with an H200's results (crates/gpu/observations/h200).
//
//! kernel mathExpLog
//! title  exp, expm1, log, log2 in double precision (nvcc)
//! const  n = 64
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer x: u64[n] = [
//!     0x0000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000, 0x8000000000000000,
//!     0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000123, 0x7ff0000000000001,
//!     0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
//!     0xffefffffffffffff, 0x3fe0000000000000, 0x4005bf0a8b145769, 0x4024000000000000, 0x3fb999999999999a,
//!     0x3ddb7cdfd9d7bdbb, 0xbddb7cdfd9d7bdbb, 0x01a56e1fc2f8f359, 0x7e37e43c8800759c, 0x40862e42fefa39ef,
//!     0x40862e42fefa39f0, 0xc086232bdd7abcd2, 0xc0874910d52d3051, 0xc08749999999999a, 0xc0874385446d71c3,
//!     0x3ff0000000000001, 0x3fefffffffffffff, 0x3ff8000000000000, 0x3fe8000000000000, 0x3ff6a09e667f3bcd,
//!     0x3fe6a09e667f3bcd, 0x4008000000000000, 0x40934a456d5cfaad, 0xc00a000000000000, 0x3ee4f8b588e368f1,
//!     0xbfe62e42fefa39ef, 0x3fd62e42fefa39ef, 0x40562ccccccccccd, 0xc042b33333333333, 0x4039000000000000,
//!     0xbff8000000000000, 0x4059080000000000, 0x3cb0000000000000, 0x3fd5555555555555, 0x40a2bc84307265e3,
//!     0xc07b830659287445, 0xc0a36007d1f84f21, 0x4091d1f433a62b9f, 0x40a28a12c99c2249, 0xc09d22d12c8e217d,
//!     0xc0a01213463f8cd8, 0x40a3f5d485273a14, 0x4097dd0dffd81585, 0xc0a898506d68a04a, 0xc088e6e0e2825266,
//!     0x40abfac0bde8b097, 0xc059866e20261334, 0xc0ada9de5f22c681, 0x40917c99d7e5bc4a]
//! buffer e: f64[n] = fill(99)
//! buffer em1: f64[n] = fill(99)
//! buffer ln: f64[n] = fill(99)
//! buffer lb: f64[n] = fill(99)
//! arg    0 = x
//! arg    1 = e
//! arg    2 = em1
//! arg    3 = ln
//! arg    4 = lb
//! expect e[0..4] == [1.0, 2.718281828459045, 0.36787944117144233, 7.38905609893065]
//! expect ln[1] == 0
//! expect lb[3] == 1

extern "C" __global__ void mathExpLog(const double *x, double *e, double *em1, double *ln, double *lb)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    e[i] = exp(x[i]);
    em1[i] = expm1(x[i]);
    ln[i] = log(x[i]);
    lb[i] = log2(x[i]);
}
