// Group-by with count, sum and maximum on skewed keys: shared atomics, then global atomics.
//
//! kernel db_groupby_shared
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void db_groupby_shared(const int *in, int *out, unsigned n) {
    __shared__ unsigned cnt[64];
    __shared__ unsigned long long sum[64];
    __shared__ int top[64];
    unsigned t = threadIdx.x;
    if (t < 64) {
        cnt[t] = 0;
        sum[t] = 0;
        top[t] = 0;
    }
    __syncthreads();

    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        unsigned u = (unsigned)in[i];
        unsigned group = (u >> 26) & (u >> 19) & 63;
        unsigned value = (u >> 5) & 0x3fff;
        if (value < 512)
            continue;
        atomicAdd(&cnt[group], 1u);
        atomicAdd(&sum[group], (unsigned long long)value * value);
        atomicMax(&top[group], (int)value);
    }
    __syncthreads();

    unsigned g = t & 63;
    if (cnt[g] == 0)
        return;
    switch (t >> 6) {
    case 0:
        atomicAdd(&out[g], (int)cnt[g]);
        break;
    case 1:
        atomicMax(&out[64 + g], top[g]);
        break;
    case 2:
        atomicAdd((unsigned long long *)(out + 128) + g, sum[g]);
        break;
    default:
        atomicXor(&out[256 + g], (int)(sum[g] / cnt[g]));
    }
}
