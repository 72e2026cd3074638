// if / else with arms of 2, 4, 6, 7, 8 and 16 operations, `rounds` times; lanes below `low` take the
// first arm. ptxas predicates short arms and branches around long ones: look at the machine code.
//
// --kernel arms2, arms4, arms6, arms7, arms8, arms16      --set low=32: all lanes take one arm
//
// Each warp writes the cycles between which it worked.
//
//! kernel arms8, arms2, arms4, arms6, arms7, arms16
//! title  Arms of an if / else (nvcc)
//! const  low = 16                          # 0 .. 32
//! const  rounds = 16
//! const  block = 32
//! grid   = 1
//! block  = block
//! buffer out: u32[block]
//! buffer from: u32[block / 32]
//! buffer to: u32[block / 32]
//! arg    0 = out
//! arg    1 = from
//! arg    2 = to
//! arg    3 = low
//! arg    4 = rounds

template <int length>
__device__ __forceinline__ void run(unsigned *out, unsigned *from, unsigned *to, unsigned low,
                                    unsigned rounds)
{
    unsigned lane = threadIdx.x % 32;
    unsigned x = threadIdx.x;
    unsigned start = clock();

#pragma unroll 1
    do {
        if (lane < low) {
#pragma unroll
            for (int i = 0; i < length; i++)
                x = i % 2 ? x ^ 21 : x * 3 + 7;
        } else {
#pragma unroll
            for (int i = 0; i < length; i++)
                x = i % 2 ? x ^ 42 : x * 5 + 11;
        }
    } while (--rounds);

    unsigned end = clock();
    out[threadIdx.x] = x;
    if (lane == 0) {
        from[threadIdx.x / 32] = start;
        to[threadIdx.x / 32] = end;
    }
}

#define ARMS(length)                                                                                \
    extern "C" __global__ void arms##length(unsigned *out, unsigned *from, unsigned *to,            \
                                            unsigned low, unsigned rounds)                          \
    {                                                                                               \
        run<length>(out, from, to, low, rounds);                                                    \
    }

ARMS(2)
ARMS(4)
ARMS(6)
ARMS(7)
ARMS(8)
ARMS(16)
