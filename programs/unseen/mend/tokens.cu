// tokens: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel tokens
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void tokens(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int state = 0, words = 0, numbers = 0;
    for (int j = 0; j < 24; j++) {
        int c = in[(i + j) % n] & 31;
        switch (state) {
        case 0: if (c < 10) { state = 2; numbers++; } else if (c < 26) { state = 1; words++; } break;
        case 1: if (c >= 26) state = 0; else if (c < 10) state = 3; break;
        case 2: if (c >= 10) state = c < 26 ? 3 : 0; break;
        default: if (c >= 30) state = 0;
        }
    }
    out[i] = words * 100 + numbers;
}
