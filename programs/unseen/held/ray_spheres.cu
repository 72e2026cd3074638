// Nearest hit of a ray with eight spheres held in constant memory.
//
//! kernel ray_spheres
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__constant__ float4 sphere[8] = {{0, 0, 6, 2}, {2, 1, 9, 1}, {-3, 0, 8, 2}, {1, -2, 5, 1},
                                 {4, 3, 12, 3}, {-2, 2, 7, 1}, {0, 4, 10, 2}, {-4, -3, 11, 3}};

extern "C" __global__ void ray_spheres(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float dx = ((int)(i & 255) - 128) * 0.006f, dy = ((int)(i >> 8) - 128) * 0.006f;
    float len = rsqrtf(dx * dx + dy * dy + 1.0f), best = 1e9f;
    dx *= len; dy *= len;
    int hit = -1;
    for (int k = 0; k < 8; k++) {
        float4 s = sphere[k];
        float b = dx * s.x + dy * s.y + len * s.z;
        float c = s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w, d = b * b - c;
        if (d < 0.0f) continue;
        float t = b - sqrtf(d);
        if (t > 0.0f && t < best) { best = t; hit = k; }
    }
    out[i] = hit < 0 ? in[i] & 1 : hit * 100000 + (int)(best * 1000.0f);
}
