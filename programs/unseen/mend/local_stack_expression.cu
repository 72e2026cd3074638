// A small stack machine whose stack lives in local memory.
//
//! kernel local_stack_expression
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void local_stack_expression(const int *in, int *out, unsigned n) {
    int stack[8], top = 0;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 20; k++) {
        int op = in[(i + k * 7) % n];
        if (top < 2 || ((op & 1) && top < 8)) stack[top++] = op >> 3;
        else {
            int b = stack[--top], a = stack[--top];
            int kind = op >> 1 & 3;
            stack[top++] = kind == 0 ? a + b : kind == 1 ? a - b : kind == 2 ? a * b : a ^ b;
        }
    }
    out[i] = stack[top - 1] + top;
}
