// Loads, stores and tests of generic addresses in shared, local and global memory.
//
//! kernel form_generic
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n
extern "C" __global__ void form_generic(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    __shared__ long long s[256];
    long long l[4];
    s[t] = in[i];
    for (int j = 0; j < 4; j++) l[(j + in[i]) & 3] = j * 7 + in[i + 1];
    __syncthreads();
    long long *p = in[i] % 3 == 0 ? &s[t ^ 1] : in[i] % 3 == 1 ? &l[in[i] & 3] : (long long *)(out + 8192) + i;
    int where = __isShared(p) + 2 * __isLocal(p) + 4 * __isGlobal(p) + 8 * __isConstant(p);
    __syncthreads();
    long long v = *p;
    __syncthreads();
    *p = v + 3;
    int *q = in[i + 2] & 1 ? (int *)p : out + 4096 + i;
    *q += 5;
    short *h = (short *)p + 2;
    *h = (short)(*h + 11);
    __syncthreads();
    out[i] = where + (int)v + (int)(*p >> 16) + (int)s[t];
}
