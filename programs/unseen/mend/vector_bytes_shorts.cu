// Loads char4 and short2 from one word and stores shorts.
//
//! kernel vector_bytes_shorts
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void vector_bytes_shorts(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 c = reinterpret_cast<const uchar4 *>(in)[i];
    short2 s = reinterpret_cast<const short2 *>(in)[(i * 3 + 1) % n];
    short2 r;
    r.x = (short)(c.x * 3 + c.y - s.x);
    r.y = (short)(c.z + s.y + c.w * 5 + c.x);
    reinterpret_cast<short2 *>(out)[i] = r;
}
