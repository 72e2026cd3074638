// matmul_plain: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel matmul_plain
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void matmul_plain(const int *in, int *out, unsigned n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = i >> 8, c = i & 255;
    int sum = 0;
    for (int j = 0; j < 256; j++) sum += in[r * 256 + j] * in[j * 256 + c];
    out[i] = sum;
}
