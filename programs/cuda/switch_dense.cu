// A switch over eight consecutive values. nvcc 13 makes no jump table (`brx.idx`), as other
// compilers may, but a binary search: a tree of branches whose leaves run one after the other.
//
//! kernel switchDense
//! title  Switch over neighbouring values (nvcc)
//! const  n = 128
//! const  block = 64
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = (i * 7) % 10 for i
//! buffer out: u32[n] = fill(99)
//! arg    0 = in
//! arg    1 = out
//! expect out[i] == (in[i] == 0 ? i + 5 :
//!     in[i] == 1 ? i * 3 :
//!     in[i] == 2 ? i ^ 0x55 :
//!     in[i] == 3 ? i * i :
//!     in[i] == 4 ? 1000 - i :
//!     in[i] == 5 ? i / 3 :
//!     in[i] == 6 ? i % 5 :
//!     in[i] == 7 ? i << 4 : 7) for i in 0..n

extern "C" __global__ void switchDense(const unsigned int *in, unsigned int *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int r;

    switch (in[i]) {
    case 0: r = i + 5; break;
    case 1: r = i * 3; break;
    case 2: r = i ^ 0x55; break;
    case 3: r = i * i; break;
    case 4: r = 1000 - i; break;
    case 5: r = i / 3; break;
    case 6: r = i % 5; break;
    case 7: r = i << 4; break;
    default: r = 7;
    }
    out[i] = r;
}
