// Sine, cosine and tangent of doubles: zeros, infinities, NaN, denormals, multiples of pi, and
// values so large that some lanes call `__internal_trig_reduction_slowpathd`, which reduces the
// angle with a table of 2/pi, carry chains and local memory. Tests compare all bits with an H200's.
//
//! kernel mathSincos
//! title  sin, cos, tan in double precision (nvcc)
//! const  n = 64
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer x: u64[n] = [
//!     0x0000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000, 0x8000000000000000,
//!     0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000123, 0x7ff0000000000001,
//!     0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
//!     0xffefffffffffffff, 0x3ff921fb54442d18, 0x400921fb54442d18, 0x4012d97c7f3321d2, 0x401921fb54442d18,
//!     0x3fe921fb54442d18, 0xbfe921fb54442d18, 0x3fe921fb54442d19, 0x3e45798ee2308c3a, 0xbe45798ee2308c3a,
//!     0x01a56e1fc2f8f359, 0x4008000000000000, 0xc000000000000000, 0x4024000000000000, 0x4059000000000000,
//!     0x40f86a0000000000, 0x40f9bc6000000000, 0x40f9c8f000000000, 0xc0f9c90800000000, 0x412e848000000000,
//!     0x4202a05f20000000, 0xc30c6bf526340000, 0x4340000000000000, 0x4340000000000001, 0x4480f0cf064dd592,
//!     0x54b249ad2594c37d, 0xfe37e43c8800759c, 0x7506ac5b262ca1ff, 0x4036000000000000, 0x4086300000000000,
//!     0x3ff199999999999a, 0x3fd3333333333333, 0x40a88b2f704a9409, 0x41132cbd0fba43a7, 0x413447bb47e34d2d,
//!     0x4148f0ccafad2a87, 0x415eac09532f3e50, 0x4172dc392a89350d, 0x418731c1ac0cf8c1, 0x419c864320caf280,
//!     0x41b18a2aae0aa052, 0x41c5920396796126, 0x41da86fb3eb0c474, 0x41f04fc79e6076a2, 0x42040f6164d942de,
//!     0x4218ab7fb5475fb7, 0x422e56cf7144c236, 0x4242a7d1554faaa3, 0x4256f14edc21ddb4]
//! buffer s: f64[n] = fill(99)
//! buffer c: f64[n] = fill(99)
//! buffer t: f64[n] = fill(99)
//! arg    0 = x
//! arg    1 = s
//! arg    2 = c
//! arg    3 = t
//! expect s[0..4] == [0.0, 0.8414709848078965, -0.8414709848078965, 0.9092974268256817]
//! expect c[0] == 1

extern "C" __global__ void mathSincos(const double *x, double *s, double *c, double *t)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sine, cosine;
    sincos(x[i], &sine, &cosine);
    s[i] = sine;
    c[i] = cosine;
    t[i] = tan(x[i]);
}
