// Four generations of the game of life on a torus of 16 by 16 cells per block.
//
//! kernel life_torus
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void life_torus(const int *in, int *out, unsigned n) {
    __shared__ unsigned char cell[2][256];
    int t = threadIdx.x, x = t & 15, y = t >> 4, p = 0;
    cell[0][t] = in[blockIdx.x * 256 + t] & 1;
    __syncthreads();
    for (int g = 0; g < 4; g++) {
        int sum = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (dx || dy) sum += cell[p][((y + dy) & 15) * 16 + ((x + dx) & 15)];
        cell[p ^ 1][t] = sum == 3 || (sum == 2 && cell[p][t]);
        p ^= 1;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = cell[p][t];
}
