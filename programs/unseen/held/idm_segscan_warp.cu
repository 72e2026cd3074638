// Segmented inclusive scan by one warp over eight chunks with a carry across chunks.
//
//! kernel idm_segscan_warp
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void idm_segscan_warp(const int *in, int *out, unsigned n) {
    unsigned lane = threadIdx.x & 31;
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    unsigned base = warp * 256, carry = 0, le = ~0u >> (31 - lane);
    if (base + 256 > n)
        return;
    for (int chunk = 0; chunk < 8; chunk++) {
        unsigned at = base + chunk * 32 + lane;
        unsigned u = (unsigned)in[at];
        unsigned heads = __ballot_sync(~0u, u < 0x18000000u);
        int first = 31 - __clz((int)(heads & le));
        unsigned x = u >> 12;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            unsigned y = __shfl_up_sync(~0u, x, d);
            if ((int)lane - d >= max(first, 0))
                x += y;
        }
        if (first < 0)
            x += carry;
        carry = __shfl_sync(~0u, x, 31);
        out[at] = (int)x;
    }
}
