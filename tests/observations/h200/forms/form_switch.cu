// A jump table, uniform predicates and half constants.
//
//! kernel form_switch
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
__constant__ unsigned short halves[8] = {3, 70, 900, 11000, 65535, 5, 77, 32768};
__constant__ signed char bytes[4] = {-3, 7, -100, 90};
extern "C" __global__ void form_switch(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int v = in[i], s = 0;
    for (unsigned j = 0; j <= blockIdx.x * 2 + 3; j++) {
        switch ((v >> j) & 15) {
        case 0: s += v * 3; break;
        case 1: s ^= v << 3; break;
        case 2: s -= j; out[4096 + i] = s; break;
        case 3: s = __popc(s); break;
        case 4: s |= in[i + 5]; break;
        case 5: s = s / (int)(j + 3); break;
        case 6: s += __clz(v); break;
        case 7: s ^= in[(s & 1023)]; break;
        case 8: s = __brev(s); break;
        case 9: s = min(s, v); break;
        case 10: s = max(s, (int)n); break;
        case 11: s = ~s; break;
        default: s += halves[blockIdx.x & 7] + halves[(blockIdx.x + j) & 7] + bytes[blockIdx.x & 3]; break;
        }
    }
    bool p = (n & 1) || blockIdx.x > 1, q = (n >> 5 & 1) ^ (blockIdx.x & 1);
    if (p && q) s += 17;
    if (p != q) s += in[blockIdx.x];
    out[i] = s;
}
