// lock_block: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel lock_block
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void lock_block(const int *in, int *out, unsigned n) {
    __shared__ int lock, count;
    if (threadIdx.x == 0) { lock = 0; count = 0; }
    __syncthreads();
    if ((in[blockIdx.x * blockDim.x + threadIdx.x] & 7) == 0) {
        bool done = false;
        while (!done) if (atomicCAS(&lock, 0, 1) == 0) { *(volatile int *)&count = *(volatile int *)&count + 1; __threadfence_block(); atomicExch(&lock, 0); done = true; }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = count;
}
