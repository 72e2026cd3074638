// cuda::memcpy_async with a barrier, as the C++ library compiles it for sm_90.
//
//! kernel form_memcpy_async
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

#include <cooperative_groups.h>
#include <cuda/barrier>

extern "C" __global__ void form_memcpy_async(const int *in, int *out, unsigned n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) int s[2][1024];
    __shared__ barrier full[2];
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x < 2)
        init(&full[threadIdx.x], blockDim.x);
    block.sync();
    const int *from = in + 16384 * blockIdx.x;
    int *to = out + 16384 * blockIdx.x;
    cuda::memcpy_async(block, s[0], from, cuda::aligned_size_t<16>(4096), full[0]);
    for (int k = 0; k < 16; k++) {
        if (k + 1 < 16)
            cuda::memcpy_async(block, s[(k + 1) % 2], from + 1024 * (k + 1),
                               cuda::aligned_size_t<16>(4096), full[(k + 1) % 2]);
        full[k % 2].arrive_and_wait();
        for (int j = threadIdx.x; j < 1024; j += blockDim.x)
            to[1024 * k + j] = s[k % 2][j] * (k + 1);
        block.sync();
    }
}
