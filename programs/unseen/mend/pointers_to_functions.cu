// Chooses one of four functions through a constant table of pointers.
//
//! kernel pointers_to_functions
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

typedef int (*Op)(int, int);
__device__ int op_add(int a, int b) { return a + b; }
__device__ int op_sub(int a, int b) { return a - b * 3; }
__device__ int op_mul(int a, int b) { return a * (b | 1); }
__device__ int op_loop(int a, int b) {
    for (int k = 0; k < (b & 7); k++) a += k * b;
    return a;
}
__constant__ Op ops[4] = {op_add, op_sub, op_mul, op_loop};

extern "C" __global__ void pointers_to_functions(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    v = ops[v & 3](v, i);
    v = ops[(threadIdx.x >> 5) & 3](v, 5);
    out[i] = v;
}
