// Monte Carlo random walks on a 64-bit LCG where each lane stops at the edge of a diamond.
//
//! kernel idm_mc_stop
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void idm_mc_stop(const int *in, int *out, unsigned n) {
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if ((id | 31) >= n / 2)
        return;
    unsigned long long s = (unsigned long long)(unsigned)in[id] << 32 | id;
    s *= 0x9e3779b97f4a7c15ull;
    int x = 0, y = 0, steps = 0;
    while (abs(x) + abs(y) < 8 && steps < 200) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        int step = (s >> 61 & 1) ? 1 : -1;
        if (s >> 63)
            x += step;
        else
            y += step;
        steps++;
    }
    unsigned side = (x >= 0) | (y >= 0) << 1;
    out[id] = steps << 2 | (int)side;
    __syncwarp();

    int longest = __reduce_max_sync(~0u, steps);
    unsigned right = __ballot_sync(~0u, x > 0);
    if ((threadIdx.x & 31) == 0) {
        atomicMax(&out[n / 2 + blockIdx.x], longest);
        atomicAdd(&out[n / 2 + gridDim.x + blockIdx.x], __popc(right));
    }
}
