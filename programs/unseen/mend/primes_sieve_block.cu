// Sieve of Eratosthenes over 1,024 numbers per block, in shared bytes.
//
//! kernel primes_sieve_block
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void primes_sieve_block(const int *in, int *out, unsigned n) {
    __shared__ unsigned char composite[1024];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    for (unsigned k = t; k < 1024; k += 256) composite[k] = base + k < 2;
    __syncthreads();
    unsigned p = t + 2;
    bool prime = true;
    for (unsigned d = 2; d * d <= p; d++)
        if (p % d == 0) { prime = false; break; }
    if (prime) {
        unsigned first = max(p * p, (base + p - 1) / p * p);
        for (unsigned m = first; m < base + 1024; m += p) composite[m - base] = 1;
    }
    __syncthreads();
    for (unsigned k = t; k < 1024; k += 256) out[base + k] = !composite[k];
}
