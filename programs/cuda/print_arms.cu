// Both arms of a branch print. The lanes of an arm print together, in order; those of the other arm
// wait until it has ended.
//
//! kernel printArms
//! title  printf on both arms of a branch (nvcc)
//! grid   = 2
//! block  = 4
//! buffer printed: u32[1]
//! arg    0 = printed
//! expect printed == fill(8)
#include <cstdio>

extern "C" __global__ void printArms(unsigned *printed)
{
    if (threadIdx.x % 2 == 0)
        printf("block %d: lane %d is even\n", blockIdx.x, threadIdx.x);
    else
        printf("block %d: lane %d is odd\n", blockIdx.x, threadIdx.x);
    atomicAdd(printed, 1);
}
