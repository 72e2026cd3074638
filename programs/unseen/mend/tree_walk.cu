// tree_walk: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel tree_walk
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void tree_walk(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned node = 1; int depth = 0, key = in[i];
    while (node < 4096 && depth < 20) {
        int pivot = in[node];
        if (key == pivot) break;
        node = key < pivot ? 2 * node : 2 * node + 1;
        depth++;
    }
    out[i] = (int)node * 32 + depth;
}
