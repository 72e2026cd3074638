// nbody_step: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel nbody_step
//! const  n = 65536
//! grid   = 16
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void nbody_step(const int *in, int *out, unsigned n) {
    __shared__ float px[256], py[256];
    int t = threadIdx.x, b = blockIdx.x * 256;
    float x = (float)(in[b + t] & 1023), y = (float)(in[b + t] >> 6), fx = 0, fy = 0;
    px[t] = x; py[t] = y;
    __syncthreads();
    for (int j = 0; j < 256; j++) {
        float dx = px[j] - x, dy = py[j] - y, d = fmaf(dx, dx, fmaf(dy, dy, 1.0f));
        float w = 1.0f / (d * sqrtf(d));
        fx = fmaf(dx, w, fx); fy = fmaf(dy, w, fy);
    }
    out[b + t] = __float_as_int(fx) ^ __float_as_int(fy);
}
