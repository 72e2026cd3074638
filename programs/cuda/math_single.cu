// Functions of 32-bit floats without approximate instructions: sine (large angles use a table in
// local memory), logarithm, root, quotient. Tests compare all bits with an H200's results.
//
//! kernel mathSingle
//! title  sinf, logf, sqrtf, division (nvcc)
//! const  n = 64
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer x: u32[n] = [
//!     0x00000000, 0x3f800000, 0xbf800000, 0x40000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00123, 0x7f800001,
//!     0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x40490fdb, 0x3fc90fdb, 0x40400000,
//!     0x41200000, 0x3727c5ac, 0x47c35000, 0x47ce4780, 0x47ce4800, 0x501502f9, 0xe0ad78ec, 0x7e967699, 0x3f800001, 0x3f7fffff,
//!     0x3dcccccd, 0x40200000, 0x34c8974f, 0x3596a6f7, 0x36624ac8, 0x3729f46c, 0x37ff4942, 0x38bfbb03, 0x398fff61, 0x3a584bdb,
//!     0x3b227290, 0x3bf40277, 0x3cb742e9, 0x3d89a30b, 0x3e4ebdf6, 0x3f1b4598, 0x3fe93b30, 0x40af2a94, 0x41838ea3, 0x42459c1c,
//!     0x431469c5, 0x43deedcb, 0x44a76dc9, 0x457b7df5, 0x463ce186, 0x470ddb81, 0x47d514e6, 0x48a0087d, 0x49706212, 0x4a3489a5,
//!     0x4b07975f, 0x4bcbab5c, 0x4c98f6d2, 0x4d65c3cd]
//! buffer s: f32[n] = fill(99)
//! buffer ln: f32[n] = fill(99)
//! buffer root: f32[n] = fill(99)
//! buffer third: f32[n] = fill(99)
//! arg    0 = x
//! arg    1 = s
//! arg    2 = ln
//! arg    3 = root
//! arg    4 = third
//! expect s[0] == 0
//! expect ln[1] == 0
//! expect root[1] == 1

extern "C" __global__ void mathSingle(const float *x, float *s, float *ln, float *root, float *third)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[i] = sinf(x[i]);
    ln[i] = logf(x[i]);
    root[i] = sqrtf(x[i]);
    third[i] = x[i] / 3.0000002f;
}
