// Sums that shared memory does not have: nvcc makes loops of LDS and ATOMS.CAST of them.
#include <cuda_fp16.h>

extern "C" __global__ void castSums(float *singles, double *doubles, unsigned long long *most)
{
    __shared__ float s[4];
    __shared__ double d[4];
    __shared__ unsigned long long m[4];
    unsigned t = threadIdx.x;
    if (t < 4) {
        s[t] = 0;
        d[t] = 0;
        m[t] = 0;
    }
    __syncthreads();
    atomicAdd(&s[t & 3], 1.0f);
    atomicAdd(&d[t & 3], 0.5);
    atomicMax(&m[t & 3], (unsigned long long)t << 33);
    __syncthreads();
    if (t < 4) {
        singles[t] = s[t];
        doubles[t] = d[t];
        most[t] = m[t];
    }
}
