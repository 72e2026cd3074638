// k divergent paths of equal length. Lane l takes path l % k, a chain of 16 * trips dependent
// multiply-adds with the path's own constants. Two kernels compute the same values:
//
// paths          tests for each of `cases` paths and branches: the k paths run one after the other
// pathsSelected  selects the constants first, so that all lanes share one chain: no branch diverges
//
// Each warp writes the cycles between which it worked. The kernels go round twice, so these are
// times with warm instruction caches.
//
// --set k=1, 2, 4 .. 32      --set cases=32: 32 tests, whatever k is
//
//! kernel paths, pathsSelected
//! title  k divergent paths (nvcc)
//! const  k = 4
//! const  cases = k
//! const  trips = 4
//! const  block = 32
//! const  grid = 1
//! const  n = grid * block
//! grid   = grid
//! block  = block
//! buffer out: u32[n]
//! buffer from: u32[n / 32]
//! buffer to: u32[n / 32]
//! arg    0 = out
//! arg    1 = from
//! arg    2 = to
//! arg    3 = k
//! arg    4 = cases
//! arg    5 = trips

__device__ __forceinline__ unsigned chain(unsigned x, unsigned times, unsigned plus, unsigned trips)
{
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < 16; i++)
            x = x * times + plus;
    } while (--trips);
    return x;
}

template <bool branch>
__device__ __forceinline__ void run(unsigned *out, unsigned *from, unsigned *to, unsigned k,
                                    unsigned cases, unsigned trips)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned path = threadIdx.x % 32 % k;
    unsigned x = 0, start = 0, end = 0;

#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        x = thread;
        __syncthreads();
        start = clock();
        if (branch) {
#pragma unroll 1
            for (unsigned c = 0; c < cases; c++)
                if (path == c)
                    x = chain(x, 2 * c + 3, c + 1, trips);
        } else {
            unsigned times = 1, plus = 0;
#pragma unroll 1
            for (unsigned c = 0; c < cases; c++)
                if (path == c) {
                    times = 2 * c + 3;
                    plus = c + 1;
                }
            x = chain(x, times, plus, trips);
        }
        end = clock();
    }
    out[thread] = x;
    if (threadIdx.x % 32 == 0) {
        from[thread / 32] = start;
        to[thread / 32] = end;
    }
}

extern "C" __global__ void paths(unsigned *out, unsigned *from, unsigned *to, unsigned k,
                                 unsigned cases, unsigned trips)
{
    run<true>(out, from, to, k, cases, trips);
}

extern "C" __global__ void pathsSelected(unsigned *out, unsigned *from, unsigned *to, unsigned k,
                                         unsigned cases, unsigned trips)
{
    run<false>(out, from, to, k, cases, trips);
}
