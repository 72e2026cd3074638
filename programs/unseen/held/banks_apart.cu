// banks_apart: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel banks_apart
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void banks_apart(const int *in, int *out, unsigned n) {
    __shared__ int s[2048];
    int t = threadIdx.x, sum = 0;
    for (int j = 0; j < 8; j++) s[t * 8 + j] = in[blockIdx.x * blockDim.x + t] + j;
    __syncthreads();
    for (int j = 1; j <= 8; j++) sum += s[(t * j) & 2047];
    out[blockIdx.x * blockDim.x + t] = sum;
}
