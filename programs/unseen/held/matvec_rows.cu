// Matrix-vector product, one row per thread (uncoalesced on purpose).
//
//! kernel matvec_rows
//! const  n = 65536
//! grid   = 1
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void matvec_rows(const int *in, int *out, unsigned n) {
    int row = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 256; k++)
        sum = fmaf((float)(in[row * 256 + k] & 63), (float)(in[k] & 15), sum);
    out[row] = __float_as_int(sum);
}
