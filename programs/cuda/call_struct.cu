// Structures by value: as a kernel parameter, function argument and result (`.param .align 8 .b8
// p[24]`), with an array that is indexed at run time and therefore in local memory.
//
//! kernel callStruct
//! title  Structures by value (nvcc)
//! const  n = 96
//! const  block = 32
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer out: u64[n] = fill(99)
//! arg    0 = out
//! arg    1 = [3, 0, 0, 0, 10, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
//! expect out[i] == (i % 3 == 0 ? 10 + i : 256 + 3 * i) + (i % 3 == 1 ? 1000 : 0) + 5 for i in 0..n

struct Plan {
    int factor;
    int first;
    long long base;
    unsigned char bias;
};

struct Sum {
    long long part[3];
};

__device__ __noinline__ Sum spread(Plan plan, int i)
{
    Sum sum;
    sum.part[0] = plan.first + i;
    sum.part[1] = plan.base + plan.factor * i;
    sum.part[2] = plan.base + plan.factor * i;
    sum.part[1] += 1000;
    for (int k = 0; k < 3; k++)
        sum.part[(k + i) % 3] += plan.bias;
    return sum;
}

extern "C" __global__ void callStruct(long long *out, Plan plan)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Sum sum = spread(plan, i);
    out[i] = sum.part[i % 3];
}
