// Reed-Solomon syndromes over GF(256) by Horner's rule with log and exp tables in shared memory.
//
//! kernel cry_rs_syndrome
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void cry_rs_syndrome(const int *in, int *out, unsigned n) {
    __shared__ unsigned char ex[512], lg[256];
    unsigned t = threadIdx.x, id = blockIdx.x * 256 + t;
    if (t < 255) {
        unsigned x = 1;
        for (unsigned i = 0; i < t; i++)
            x = (x << 1) ^ ((x & 0x80) ? 0x11d : 0);
        ex[t] = ex[t + 255] = (unsigned char)x;
        lg[x] = (unsigned char)t;
    } else {
        lg[0] = 0;
        ex[510] = ex[511] = 0;
    }
    __syncthreads();

    unsigned word = id >> 4, j = id & 15, s = 0;
    if (word * 64 + 63 < n) {
        for (int b = 0; b < 64; b++) {
            unsigned v = (unsigned)in[word * 64 + b];
            int last = b == 63 ? 3 : 4;
            for (int k = 0; k < last; k++) {
                if (s != 0)
                    s = ex[lg[s] + j];
                s ^= v & 255;
                v >>= 8;
            }
        }
        out[id] = (int)s;
    }
    int bad = __syncthreads_count(s != 0);
    if (t == 0)
        out[n / 2 + blockIdx.x] = bad;
}
