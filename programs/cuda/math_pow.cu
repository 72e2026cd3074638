// Powers of doubles, 24 values to the power of each: signs, zeros, infinities, NaN, odd and even
// integer exponents, overflow, underflow. The general case is a call (`__internal_accurate_pow`)
// with branches for special cases. Tests compare all bits with an H200's (crates/gpu/observations/h200).
//
//! kernel mathPow
//! title  pow in double precision (nvcc)
//! const  n = 24
//! const  block = 64
//! grid   = n * n / block
//! block  = block
//! buffer x: u64[n] = [
//!     0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000,
//!     0xc000000000000000, 0x3fe0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
//!     0x0000000000000001, 0x7fefffffffffffff, 0x4008000000000000, 0xc008000000000000, 0x3ff8000000000000,
//!     0xbfb999999999999a, 0x4024000000000000, 0xbff0000000000001, 0x3f50624dd2f1a9fc, 0x408ffc0000000000,
//!     0x3fefffffffffffff, 0xc090c80000000000, 0x4330000000000001, 0x7fe1ccf385ebc8a0]
//! buffer out: f64[n * n] = fill(99)
//! arg    0 = x
//! arg    1 = out
//! arg    2 = n
//! expect out[0..3] == [1.0, 1.0, 0.0]            # 0 to the powers 0, -0, 1
//! expect out[2 * n..3 * n] == 1                  # 1 to any power
//! expect out[4 * n + 4] == 4
//! expect out[4 * n + 12] == 8
//! expect out[5 * n + 12] == -8
//! expect out[6 * n + 5] == 4

extern "C" __global__ void mathPow(const double *x, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = pow(x[i / n], x[i % n]);
}
