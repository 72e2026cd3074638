// Encodes three bytes to four characters with comparisons.
//
//! kernel base64_encode
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ int letter(int v) {
    return v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/';
}

extern "C" __global__ void base64_encode(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i] * 251 & 0xffffff;
    int low = letter(v >> 18) | letter(v >> 12 & 63) << 8;
    out[i] = low | letter(v >> 6 & 63) << 16 | letter(v & 63) << 24;
}
