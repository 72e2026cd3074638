// Number of decimal digits and their sum, by repeated division by ten.
//
//! kernel digits_decimal
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void digits_decimal(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, k = 0;
    unsigned v = in[i] * (in[(i + 1) % n] & 1023);
    do {
        sum += v % 10;
        v /= 10;
        k++;
    } while (v);
    out[i] = k * 100 + sum;
}
