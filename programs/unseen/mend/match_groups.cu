// match_groups: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel match_groups
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void match_groups(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int key = in[i] & 7;
    unsigned m = __match_any_sync(0xffffffffu, key);
    int leader = __ffs(m) - 1, lane = threadIdx.x & 31;
    if (lane == leader) atomicAdd(&out[key], __popc(m));
    if (__any_sync(0xffffffffu, key == 7) && lane == 0) atomicAdd(&out[8], 1);
}
