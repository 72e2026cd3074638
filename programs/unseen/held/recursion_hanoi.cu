// Recursive count of the moves of Hanoi's towers, with different depths per lane.
//
//! kernel recursion_hanoi
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ __noinline__ int hanoi(int disks, int from, int to) {
    if (disks == 0) return 0;
    int via = 3 - from - to;
    return hanoi(disks - 1, from, via) + from * 2 + to + 1 + hanoi(disks - 1, via, to);
}

extern "C" __global__ void recursion_hanoi(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = hanoi(in[i] % 6, 0, 2);
}
