// Lengths of the runs of equal bits that start at each thread.
//
//! kernel run_length_encode
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void run_length_encode(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i + 1;
    int bit = in[i] >> 15 & 1, head = i == 0 || (in[i - 1] >> 15 & 1) != bit;
    if (head)
        while (k < n && (in[k] >> 15 & 1) == bit) k++;
    out[i] = head ? (int)(k - i) : 0;
}
