// Newton's method for a cube root, iterated until two steps agree.
//
//! kernel float_horner_newton
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void float_horner_newton(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = (float)in[i] + 1.0f, x = v, last;
    int steps = 0;
    do {
        last = x;
        x = (2.0f * x + v / (x * x)) / 3.0f;
        steps++;
    } while (fabsf(x - last) > 1e-5f * x && steps < 60);
    out[i] = __float_as_int(x) + steps;
}
