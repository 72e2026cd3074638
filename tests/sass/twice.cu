// A loop of 64 trips that the compiler unrolls, twice: a uniform predicate counts the rounds.
//
//! title  An unrolled loop, twice: a uniform predicate counts the rounds
//! const  trips = 64
//! const  block = 64
//! grid   = 1
//! block  = block
//! buffer in: u32[trips * block] = iota
//! buffer out: u32[block]
//! arg    0 = in
//! arg    1 = out
//! expect out[i] == trips * i + block * (trips * (trips - 1) / 2) for i in 0..block

extern "C" __global__ void twice(const unsigned *in, unsigned *out)
{
    unsigned sum = 0;
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        unsigned first = threadIdx.x, stride = blockDim.x;
        asm volatile("" : "+r"(first), "+r"(stride));  // keeps the addresses in the round
        __syncthreads();
        sum = 0;
        for (int i = 0; i < 64; i++)
            sum += in[i * stride + first];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
