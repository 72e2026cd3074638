// Longest-match walks in a four-way trie in shared memory from twelve offsets of each key.
//
//! kernel gr_trie_walk
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gr_trie_walk(const int *in, int *out, unsigned n) {
    const unsigned NODES = 1365, NONE = 0xffffffffu;
    __shared__ unsigned pass[NODES], term[NODES];
    unsigned t = threadIdx.x, id = blockIdx.x * blockDim.x + t;
    if (blockIdx.x * 512 + 512 > n)
        return;
    for (unsigned i = t; i < NODES; i += blockDim.x) {
        pass[i] = 0;
        term[i] = NONE;
    }
    __syncthreads();

    if (t < 96) {
        unsigned word = (unsigned)in[blockIdx.x * 512 + 256 + t];
        unsigned len = 2 + (word >> 30), node = 0;
        for (unsigned d = 0; d < len; d++) {
            node = 4 * node + 1 + (word >> (28 - 2 * d) & 3);
            atomicAdd(&pass[node], 1u);
        }
        atomicMin(&term[node], t);
    }
    __syncthreads();

    unsigned key = (unsigned)in[id];
    key ^= key >> 15;
    unsigned acc = 0;
    for (unsigned s = 0; s < 12; s++) {
        unsigned node = 0, best = 127;
        for (unsigned d = 0; d < 5; d++) {
            node = 4 * node + 1 + (key >> 2 * (s + d) & 3);
            if (pass[node] == 0)
                break;
            if (term[node] != NONE)
                best = term[node];
        }
        acc = acc * 31 + best;
    }
    out[id] = (int)acc;
}
