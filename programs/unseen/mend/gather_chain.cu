// gather_chain: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel gather_chain
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gather_chain(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = i;
    for (int s = 0; s < 6; s++) a = in[a];
    out[i] = a;
}
