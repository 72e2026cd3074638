// Sphere tracing of a 128x128 image against six spheres with a data-dependent step count.
//
//! kernel idm_ray_march
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void idm_ray_march(const int *in, int *out, unsigned n) {
    __shared__ float4 ball[6];
    unsigned t = threadIdx.x, id = blockIdx.x * blockDim.x + t;
    if (t < 6) {
        const float unit = 1.0f / 8388608.0f;
        ball[t].x = (float)(in[4 * t] >> 8) * unit;
        ball[t].y = (float)(in[4 * t + 1] >> 8) * unit;
        ball[t].z = 3.0f + (float)(in[4 * t + 2] >> 8) * unit;
        ball[t].w = 0.45f + 0.2f * (float)(in[4 * t + 3] >> 8) * unit;
    }
    __syncthreads();
    if (id >= n)
        return;

    float x = ((float)(id & 127) - 63.5f) / 96.0f, y = ((float)(id >> 7) - 63.5f) / 96.0f;
    float inv = 1.0f / sqrtf(x * x + y * y + 1.0f);
    float dx = x * inv, dy = y * inv, dz = inv, dist = 0.0f;
    bool hit = false;
    int step;
    for (step = 0; step < 24; step++) {
        float px = dx * dist, py = dy * dist, pz = dz * dist, d = 8.0f;
        for (int k = 0; k < 6; k++) {
            float4 b = ball[k];
            float ex = px - b.x, ey = py - b.y, ez = pz - b.z;
            d = fminf(d, sqrtf(ex * ex + ey * ey + ez * ez) - b.w);
        }
        hit = d < 0.002f;
        dist += d;
        if (hit || dist > 6.0f)
            break;
    }
    out[id] = hit ? step << 20 | (int)(dist * 4096.0f) : -1 - step;
}
