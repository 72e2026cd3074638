// Jump tables whose index all lanes share, and does not.
//
//! kernel form_branch_uniform
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = 1
extern "C" __global__ void form_branch_uniform(const int *in, int *out, int which) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i], y = in[i + 1];
    #pragma unroll 1
    for (int k = 0; k < 24; k++) {
        switch (which) {
        case 0: x = x * 3 + k; break;
        case 1: x = x ^ (y >> 3) + k; break;
        case 2: x = __popc(x) + k; break;
        case 3: x = (x | k) - 5; break;
        case 4: x = __brev(x) ^ k; break;
        case 5: x = x - k * 7; break;
        case 6: x = (x & k) + 11; break;
        default: x = __clz(x) * k; break;
        }
        asm volatile("" : "+r"(which));
    }
    out[i] = x;
}
