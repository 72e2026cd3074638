// struct_of_three: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel struct_of_three
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void struct_of_three(const int *in, int *out, unsigned n) {
    struct P { int x, y, z; };
    const P *p = (const P *)in;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 3) { P q = p[i]; out[3 * i] = q.x + q.y; out[3 * i + 1] = q.y * q.z; out[3 * i + 2] = q.z - q.x; }
}
