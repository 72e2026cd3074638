// A sum of `trips` words a thread, the same source but for the pragma:
//
// rolled     #pragma unroll 1
// plain      no pragma
// byEight    #pragma unroll 8
// complete   no pragma, but the compiler knows that there are 64 trips
//
// --kernel rolled, plain, byEight, complete      --set trips=61: not a multiple of four or eight
//
// Each block writes the cycles between which it worked. The kernels go round twice, so these are
// times with warm caches.
//
//! kernel plain, rolled, byEight, complete
//! title  Unrolled loops (nvcc)
//! const  trips = 64                        # complete: 64
//! const  block = 32
//! grid   = 1
//! block  = block
//! buffer in: u32[trips * block] = iota
//! buffer out: u32[block]
//! buffer from: u32[block / 32]
//! buffer to: u32[block / 32]
//! arg    0 = in
//! arg    1 = out
//! arg    2 = from
//! arg    3 = to
//! arg    4 = trips
//! expect out[i] == trips * i + block * (trips * (trips - 1) / 2) for i in 0..block

template <int unroll>
__device__ __forceinline__ unsigned add(const unsigned *in, unsigned first, unsigned stride,
                                        int trips)
{
    unsigned sum = 0;
    if constexpr (unroll == 0) {
        for (int i = 0; i < trips; i++)
            sum += in[i * stride + first];
    } else {
#pragma unroll unroll
        for (int i = 0; i < trips; i++)
            sum += in[i * stride + first];
    }
    return sum;
}

template <int unroll>
__device__ __forceinline__ void run(const unsigned *in, unsigned *out, unsigned *from, unsigned *to,
                                    int trips)
{
    unsigned sum = 0, start = 0, end = 0;

#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        unsigned first = threadIdx.x, stride = blockDim.x;
        asm volatile("" : "+r"(first), "+r"(stride));  // keeps the addresses in the round
        __syncthreads();
        start = clock();
        sum = add<unroll>(in, first, stride, trips);
        __syncthreads();
        end = clock();
    }
    out[threadIdx.x] = sum;
    if (threadIdx.x % 32 == 0) {
        from[threadIdx.x / 32] = start;
        to[threadIdx.x / 32] = end;
    }
}

#define KERNEL(name, unroll, times)                                                                 \
    extern "C" __global__ void name(const unsigned *in, unsigned *out, unsigned *from,              \
                                    unsigned *to, int trips)                                        \
    {                                                                                               \
        run<unroll>(in, out, from, to, times);                                                      \
    }

KERNEL(rolled, 1, trips)
KERNEL(plain, 0, trips)
KERNEL(byEight, 8, trips)
KERNEL(complete, 0, 64)
