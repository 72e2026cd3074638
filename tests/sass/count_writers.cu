// Threads of block 0 store, fence and count themselves; a thread of block 1 reads when all have
// been counted. ptxas makes one atomic of those of a warp.
//! kernel count_writers
//! grid   = 2
//! block  = 64
//! buffer data: u32[64] = fill(0)
//! buffer done: u32[1] = fill(0)
//! buffer out: u32[1] = fill(0)
//! arg    0 = data
//! arg    1 = done
//! arg    2 = out
//! expect out[0] == 2464

extern "C" __global__ void count_writers(unsigned *data, unsigned *done, unsigned *out) {
    unsigned t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t + 7;
        __threadfence();
        atomicAdd(done, 1);
    } else if (t == 0) {
        while (*(volatile unsigned *)done < 64) {
        }
        __threadfence();
        unsigned sum = 0;
#pragma unroll 1
        for (int i = 0; i < 64; i++) {
            sum += *(volatile unsigned *)&data[i];
        }
        out[0] = sum;
    }
}
