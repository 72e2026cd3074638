// A block barrier in each arm of a branch, of which nvcc makes two guarded ones in a row: a warp
// executes each once, and no lane goes ahead.

extern "C" __global__ void barrierInBothArms(unsigned *seen)
{
    __shared__ unsigned here[64];
    unsigned t = threadIdx.x, v;
    here[t] = 0;
    __syncthreads();
    if (t & 1) {
        here[t] = 1;
        __syncthreads();
        v = here[t ^ 1];
    } else {
        here[t] = 1;
        __syncthreads();
        v = here[t ^ 1];
    }
    seen[t] = v;
}
