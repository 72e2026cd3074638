// A dense switch of sixteen cases in a loop: an indirect branch.
//
//! kernel switch_dense
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void switch_dense(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i], r = 1;
    for (int k = 0; k < 4; k++) {
        switch (v >> 4 * k & 15) {
        case 0: r += v; break;
        case 1: r *= 3; break;
        case 2: r ^= r << 7; break;
        case 3: r -= i; break;
        case 4: r = __popc(r) + v; break;
        case 5: r = r / 3; break;
        case 6: r = __brev(r); break;
        case 7: r += r >> 2;
        case 8: r ^= 0x1234; break;
        case 9: r = max(r, v); break;
        case 10: r = ~r; break;
        case 11: r = r * r + 1; break;
        case 12: r = __clz(r) * v; break;
        case 13: r = r % 77; break;
        case 14: r += k; break;
        default: r = r << 3 | r >> 29;
        }
    }
    out[i] = r;
}
