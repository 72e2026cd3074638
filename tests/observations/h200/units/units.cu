// What the requests of all SMs share: the atomic units of L2, and in an SM the way there and the
// unit of jumps through registers. Each warp leaves its cycles in t[2 * warp]; units.csv has the
// mean and the most of an H200 (driver 580.159.04), of the second launch of two. A warp's lanes
// have `words` words of each of `sectors` sectors in turn, or random ones of `words`.
//
//! const  words = 1
//! const  sectors = 1
//! const  lanes = 32
//! const  rounds = 96
//! grid   = 132
//! block  = 256
//! buffer out: s32[1048576] = fill(0)
//! buffer t: u32[8448] = fill(0)
//! arg    0 = out
//! arg    1 = t
//! arg    2 = words
//! arg    3 = sectors
//! arg    4 = lanes
//! arg    5 = rounds

typedef unsigned long long u64;
typedef int (*Function)(int, int);
#define KERNEL(name)                                                                               \
    extern "C" __global__ void name(int *out, unsigned *t, unsigned words, unsigned sectors,       \
                                    unsigned lanes, int rounds)
#define LANE (threadIdx.x & 31)
#define WARP ((blockIdx.x * blockDim.x + threadIdx.x) / 32)

// Atomics of each warp on the same words.
#define RATE(name, type, act)                                                                      \
    KERNEL(name) {                                                                                 \
        unsigned word = LANE % (words * sectors);                                                  \
        type *p = (type *)out + word % sectors * (32 / sizeof(type)) + word / sectors;             \
        type v = threadIdx.x + 1;                                                                  \
        __syncthreads();                                                                           \
        unsigned start = clock();                                                                  \
        if (LANE < lanes)                                                                          \
            _Pragma("unroll 1") for (int i = 0; i < rounds; i++) act;                              \
        __syncthreads();                                                                           \
        unsigned took = clock() - start;                                                           \
        if (LANE == 0) t[2 * WARP] = took;                                                         \
    }
RATE(s32_add, int, atomicAdd(p, v))
RATE(u64_add, u64, atomicAdd(p, v))
RATE(f32_add, float, atomicAdd(p, v))
RATE(f64_add, double, atomicAdd(p, v))
RATE(s32_cas, int, v += atomicCAS(p, v, v))

// Atomics on random words, others each time.
#define RANDOM(name, type)                                                                         \
    KERNEL(name) {                                                                                 \
        unsigned x = (blockIdx.x * 256 + threadIdx.x) * 2654435761u + 12345u;                      \
        type v = threadIdx.x + 1;                                                                  \
        __syncthreads();                                                                           \
        unsigned start = clock();                                                                  \
        if (LANE < lanes)                                                                          \
            _Pragma("unroll 1") for (int i = 0; i < rounds; i++) {                                 \
                x ^= x << 13, x ^= x >> 17, x ^= x << 5;                                           \
                atomicAdd((type *)out + (x & (words - 1)), v);                                     \
            }                                                                                      \
        __syncthreads();                                                                           \
        unsigned took = clock() - start;                                                           \
        if (LANE == 0) t[2 * WARP] = took;                                                         \
    }
RANDOM(s32_random, int)
RANDOM(u64_random, u64)
RANDOM(f32_random, float)
RANDOM(f64_random, double)

// A load of a line in L2, behind reductions of all warps on one line.
KERNEL(behind) {
    int *line = out + (1 << 19) + WARP * 64 + LANE;
    int v = __ldcg(line);
    __syncthreads();
    if (LANE < lanes)
        _Pragma("unroll 1") for (int i = 0; i < rounds; i++) atomicAdd(out + LANE, v + 1);
    unsigned start = clock();
    int w = __ldcg(line);
    if (w == 12345) out[1 << 18] = w;
    __syncwarp();
    unsigned took = clock() - start;
    if (LANE == 0) t[2 * WARP] = took;
}

// Loops with calls.
__device__ __noinline__ int first(int x, int y) { return x + y * 17; }
__device__ __noinline__ int second(int x, int y) { return x * (y | 1); }
__device__ __noinline__ int third(int x, int y) { return (x ^ (x >> 5)) + y; }
__device__ __noinline__ int fourth(int x, int y) { return y - x; }
__constant__ Function table[4] = {first, second, third, fourth};
#define LOOP(name, given, body)                                                                    \
    KERNEL(name) {                                                                                 \
        int x = threadIdx.x;                                                                       \
        given;                                                                                     \
        unsigned start = clock();                                                                  \
        _Pragma("unroll 1") for (int i = 0; i < rounds; i++) { body; }                             \
        unsigned took = clock() - start;                                                           \
        out[threadIdx.x + 32] = x;                                                                 \
        if (LANE == 0) t[2 * WARP] = took;                                                         \
    }
LOOP(call, , x = first(x, i))
LOOP(calls, , x = first(x, i); x = third(x, i))
LOOP(pointer, Function f = table[out[0] & 3], x = f(x, i))
LOOP(pointers, Function f = table[out[0] & 3]; Function g = table[out[1] + 1 & 3],
     x = f(x, i); x = g(x, i))
LOOP(two_targets, Function f = table[LANE & 1], x = f(x, i))
LOOP(four_targets, Function f = table[LANE & 3], x = f(x, i))
