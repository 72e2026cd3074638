// Bitonic sort of key and index pairs in shared memory.
//
//! kernel sort_bitonic_key_value
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void sort_bitonic_key_value(const int *in, int *out, unsigned n) {
    __shared__ int key[256], val[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    key[t] = in[i];
    val[t] = t;
    for (int k = 2; k <= 256; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int o = t ^ j;
            if (o > t) {
                bool up = (t & k) == 0;
                bool greater = key[t] > key[o] || (key[t] == key[o] && val[t] > val[o]);
                if (greater == up) {
                    int a = key[t]; key[t] = key[o]; key[o] = a;
                    int b = val[t]; val[t] = val[o]; val[o] = b;
                }
            }
        }
    }
    __syncthreads();
    out[i] = key[t] * 256 + val[t];
}
