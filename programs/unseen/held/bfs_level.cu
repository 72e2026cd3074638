// One level of a breadth-first search over a graph with four edges per node.
//
//! kernel bfs_level
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bfs_level(const int *in, int *out, unsigned n) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[v] % 5 == 0) {
        for (int e = 0; e < 4; e++) {
            unsigned to = (v * 4 + in[(v + e * 977) % n]) % n;
            atomicMax(&out[to], 1 + (int)(in[to] & 1));
        }
    }
}
