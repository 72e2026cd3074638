// Gravity on 1024 bodies with tiles of positions in shared memory.
//
//! kernel nbody_tile
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void nbody_tile(const int *in, int *out, unsigned n) {
    __shared__ float4 tile[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[3 * i] * 1e-4f, y = in[3 * i + 1] * 1e-4f, z = in[3 * i + 2] * 1e-4f;
    float ax = 0, ay = 0, az = 0;
    for (int b = 0; b < 4; b++) {
        unsigned j = b * 256 + threadIdx.x;
        tile[threadIdx.x] = make_float4(in[3 * j] * 1e-4f, in[3 * j + 1] * 1e-4f,
                                        in[3 * j + 2] * 1e-4f, (float)(in[j] & 7));
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float dx = tile[k].x - x, dy = tile[k].y - y, dz = tile[k].z - z;
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f, inv = rsqrtf(r2);
            float f = tile[k].w * inv * inv * inv;
            ax += f * dx; ay += f * dy; az += f * dz;
        }
        __syncthreads();
    }
    out[3 * i] = __float_as_int(ax);
    out[3 * i + 1] = __float_as_int(ay);
    out[3 * i + 2] = __float_as_int(az);
}
