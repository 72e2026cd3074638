// A call of vprintf, which needs the address of an instruction.
//
//! kernel form_print
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cstdio>

extern "C" __global__ void form_print(const int *in, int *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int written = 0;
    if (i < 3) written = printf("in[%u] = %d\n", i, in[i]);
    out[i] = in[i] + written;
}
