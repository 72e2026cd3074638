// Integer atomics on shared words, then a global add of the results.
//
//! kernel atomics_shared_integers
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void atomics_shared_integers(const int *in, int *out, unsigned n) {
    __shared__ int s[8][16];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, k = t & 15;
    if (t < 128) s[t >> 4][k] = t < 16 ? 0x7fffffff : 0;
    __syncthreads();
    int v = in[i];
    atomicMin(&s[0][k], v);
    atomicMax(&s[1][k], v);
    atomicAdd(&s[2][k], v);
    atomicOr(&s[3][k], v);
    atomicXor(&s[4][k], v);
    atomicInc((unsigned *)&s[5][k], 5);
    atomicExch(&s[6][k], 77);
    __syncthreads();
    if (t < 128) atomicAdd(&out[t], s[t >> 4][k]);
}
