// shared_doubling.cu without its barrier.
//
// The barrier at the top of the loop is MISSING, so a warp may read partial sums that another warp
// has not written yet: a data race. The results depend on the order of the warps, so only
// termination is expected. On the bundled machines fermi and h200 the sums happen to be right; the
// race exists all the same. A correct sum in one run proves nothing.
//
//! kernel sharedDoublingRace
//! title  Reduction in shared memory, stride doubling, barrier missing (nvcc)
//! const  n = 1 << 24
//! const  block = 512
//! grid   = ceil_div(n, block)
//! block  = block
//! buffer in: u32[n] = random(7, 0..256)
//! buffer out: u32[ceil_div(n, block)] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
//! expect finish == ok

#define BLOCK 512

extern "C" __global__ void sharedDoublingRace(const unsigned int *in, unsigned int *out, unsigned int n)
{
    __shared__ unsigned int partialSum[BLOCK];

    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + t;
    partialSum[t] = i < n ? in[i] : 0;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // __syncthreads() belongs here
        if (t % (2 * stride) == 0)
            partialSum[t] += partialSum[t + stride];
    }

    if (t == 0)
        out[blockIdx.x] = partialSum[0];
}
