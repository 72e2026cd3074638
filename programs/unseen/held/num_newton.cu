// Newton's method in double for Kepler's equation, each lane with its own number of iterations.
//
//! kernel num_newton
//! const  n = 65536
//! grid   = 128
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void num_newton(const int *in, int *out, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int2 v = make_int2(0, 0);
    if (2 * i + 1 < n)
        v = reinterpret_cast<const int2 *>(in)[i];
    const double mean = (double)(unsigned)v.x * (6.283185307179586 / 4294967296.0);
    const double ecc = (double)((unsigned)v.y >> 8) * (0.995 / 16777216.0);

    double e = ecc > 0.8 ? 3.141592653589793 : mean;
    int steps = 0;
    while (steps < 20) {
        double s, c;
        sincos(e, &s, &c);
        const double delta = (e - ecc * s - mean) / (1.0 - ecc * c);
        e -= delta;
        ++steps;
        if (fabs(delta) < 1e-11)
            break;
    }
    __syncwarp();
    const unsigned quick = __ballot_sync(~0u, steps <= 5);
    const int deepest = __reduce_max_sync(~0u, steps);
    if (2 * i + 1 < n)
        reinterpret_cast<int2 *>(out)[i] =
            make_int2(__float_as_int((float)e), steps | __popc(quick) << 8 | deepest << 16);
}
