// Gray code, its inverse, parity and the next number with as many ones.
//
//! kernel bits_gray_parity
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bits_gray_parity(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i] | 1u;
    unsigned gray = v ^ v >> 1, back = gray;
    for (int s = 1; s < 32; s *= 2) back ^= back >> s;
    unsigned low = v & -v, up = v + low;
    unsigned next = up | ((v ^ up) >> 2) / low;
    out[i] = gray + back * 3 + (__popc(v) & 1) * 7 + next;
}
