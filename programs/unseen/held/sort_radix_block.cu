// Radix sort of a block, one bit per pass, with ballot ranks.
//
//! kernel sort_radix_block
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_radix_block(const int *in, int *out, unsigned n) {
    __shared__ int s[256], zeros[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * 256 + t;
    int v = in[i];
    for (int bit = 0; bit < 16; bit++) {
        int one = v >> bit & 1;
        unsigned ballot = __ballot_sync(0xffffffffu, !one);
        if (lane == 0) zeros[warp] = __popc(ballot);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < 8; w++) {
            if (w < warp) before += zeros[w];
            all += zeros[w];
        }
        before += __popc(ballot & ((1u << lane) - 1));
        int to = one ? all + t - before : before;
        s[to] = v;
        __syncthreads();
        v = s[t];
        __syncthreads();
    }
    out[i] = v;
}
