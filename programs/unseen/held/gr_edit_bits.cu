// Myers bit-parallel edit distance of a 32-symbol pattern to a text, stopped past a bound.
//
//! kernel gr_edit_bits
//! const  n = 65536
//! grid   = 256
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gr_edit_bits(const int *in, int *out, unsigned n) {
    __shared__ unsigned peq[4][128];
    unsigned t = threadIdx.x, id = blockIdx.x * 128 + t;
    if (id >= n)
        return;
    for (int c = 0; c < 4; c++)
        peq[c][t] = 0;
    unsigned lo = (unsigned)in[id], hi = (unsigned)in[(id + 1) % n];
    lo ^= lo >> 16;
    hi ^= hi >> 16;
    for (int i = 0; i < 32; i++) {
        unsigned sym = (i < 16 ? lo >> 2 * i : hi >> 2 * (i - 16)) & 3;
        peq[sym][t] |= 1u << i;
    }

    int len = 24 + (int)(hi >> 28) * 2, score = 32, i;
    unsigned pv = ~0u, mv = 0, text = 0;
    for (i = 0; i < len; i++) {
        if (i % 16 == 0)
            text = (unsigned)in[(id * 7 + i / 16) % n];
        unsigned eq = peq[text & 3][t];
        text >>= 2;
        unsigned xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq;
        unsigned ph = mv | ~(xh | pv), mh = pv & xh;
        score += (int)(ph >> 31) - (int)(mh >> 31);
        ph = ph << 1 | 1;
        mh <<= 1;
        pv = mh | ~(xv | ph);
        mv = ph & xv;
        if (score - (len - 1 - i) > 18)
            break;
    }
    out[id] = i < len ? -i : score;
}
