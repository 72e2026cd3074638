// The first sixteen steps of MD5 on sixteen neighbours.
//
//! kernel hash_md5_rounds
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ unsigned sine[4] = {0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu};
__constant__ int turn[4] = {7, 12, 17, 22};

extern "C" __global__ void hash_md5_rounds(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (int k = 0; k < 16; k++) {
        unsigned f = (b & c) | (~b & d);
        f += a + sine[k & 3] + in[(i + k) % n];
        a = d; d = c; c = b;
        b += f << turn[k & 3] | f >> (32 - turn[k & 3]);
    }
    out[i] = a + b + c + d;
}
