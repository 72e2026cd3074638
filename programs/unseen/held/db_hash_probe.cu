// Hash join with a linear-probing table in shared memory: build 512 rows, probe 1024 rows.
//
//! kernel db_hash_probe
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void db_hash_probe(const int *in, int *out, unsigned n) {
    const unsigned SLOTS = 1024, EMPTY = 0xffffffffu;
    __shared__ unsigned tab[SLOTS], cnt[SLOTS], row[SLOTS];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    for (unsigned s = t; s < SLOTS; s += blockDim.x) {
        tab[s] = EMPTY;
        cnt[s] = 0;
        row[s] = EMPTY;
    }
    __syncthreads();

    for (unsigned i = t; i < 512; i += blockDim.x) {
        unsigned key = (unsigned)in[base + i] >> 22;
        unsigned h = key * 2654435761u >> 22;
        while (true) {
            unsigned prev = atomicCAS(&tab[h], EMPTY, key);
            if (prev == EMPTY || prev == key)
                break;
            h = (h + 1) & (SLOTS - 1);
        }
        atomicAdd(&cnt[h], 1u);
        atomicMin(&row[h], i);
    }
    __syncthreads();

    for (unsigned i = t; i < 1024; i += blockDim.x) {
        unsigned key = (unsigned)in[n - 1 - (base + i)] >> 22;
        unsigned h = key * 2654435761u >> 22;
        unsigned found = tab[h], steps = 0;
        while (found != EMPTY && found != key) {
            h = (h + 1) & (SLOTS - 1);
            found = tab[h];
            steps++;
        }
        out[base + i] = found == key ? (int)(row[h] << 10 | cnt[h]) : -1;
    }
}
