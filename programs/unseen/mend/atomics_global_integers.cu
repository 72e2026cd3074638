// Every integer atomic on global words whose results do not depend on order.
//
//! kernel atomics_global_integers
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void atomics_global_integers(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i & 31;
    int v = in[i];
    atomicAdd(&out[k], v);
    atomicSub(&out[32 + k], v);
    atomicMin(&out[64 + k], -v);
    atomicMax(&out[96 + k], v);
    atomicOr(&out[128 + k], 1 << (v & 31));
    atomicXor(&out[160 + k], v);
    atomicAnd(&out[192 + k], ~v);
    atomicInc((unsigned *)&out[224 + k], 999);
    atomicDec((unsigned *)&out[256 + k], 700);
}
