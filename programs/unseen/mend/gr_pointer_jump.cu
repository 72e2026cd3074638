// Pointer jumping on a random forest of 512 nodes per block: finds root and weighted depth.
//
//! kernel gr_pointer_jump
//! const  n = 65536
//! grid   = 128
//! block  = 512
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gr_pointer_jump(const int *in, int *out, unsigned n) {
    __shared__ unsigned par[512], dist[512];
    unsigned t = threadIdx.x, id = blockIdx.x * blockDim.x + t;
    unsigned u = id < n ? (unsigned)in[id] : 0;
    bool root = t == 0 || u >> 25 == 0;
    par[t] = root ? t : t - 1 - (u >> 8) % min(t, 5u);
    dist[t] = root ? 0 : 1 + (u >> 16 & 7);
    __syncthreads();

    int changed, rounds = 0;
    do {
        unsigned p = par[t], gp = par[p];
        unsigned d = dist[t] + dist[p];
        changed = __syncthreads_or(gp != p);
        par[t] = gp;
        dist[t] = d;
        rounds++;
        __syncthreads();
    } while (changed);

    if (id >= n)
        return;
    out[id] = (int)(par[t] << 20 | (unsigned)rounds << 16 | dist[t]);
}
