// Rabin-Karp: a rolling hash, compared symbol by symbol when the hash matches.
//
//! kernel search_rabin_karp
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void search_rabin_karp(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, h = 0, want = 0, top = 1;
    for (unsigned k = 0; k < 5; k++) {
        h = (h * 31 + (in[(i + k) % n] & 3)) % 10007;
        want = (want * 31 + (k & 3)) % 10007;
        if (k) top = top * 31 % 10007;
    }
    int found = 0;
    for (unsigned p = i; p < i + 24; p++) {
        if (h == want) {
            unsigned k = 0;
            while (k < 5 && (in[(p + k) % n] & 3) == (int)(k & 3)) k++;
            if (k == 5) found++;
        }
        h = (h + 10007 - (in[p % n] & 3) * top % 10007) % 10007;
        h = (h * 31 + (in[(p + 5) % n] & 3)) % 10007;
    }
    out[i] = found * 10007 + h;
}
