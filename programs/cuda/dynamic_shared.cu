// Dynamic shared memory (`extern __shared__`) with two arrays of different types: each block
// reverses its part of the input.
//
//! kernel dynamicShared
//! title  Dynamic shared memory (nvcc)
//! const  n = 256
//! const  block = 64
//! grid   = ceil_div(n, block)
//! block  = block
//! shared = block * 8 + block
//! buffer in: u64[n] = (i + 1) << 33 for i
//! buffer out: u64[n] = fill(99)
//! arg    0 = in
//! arg    1 = out
//! expect out[i] == ((i / block * block + block - 1 - i % block + 1) << 33) + (block - 1 - i % block) * 3 % 256 for i in 0..n

extern __shared__ unsigned long long words[];

extern "C" __global__ void dynamicShared(const unsigned long long *in, unsigned long long *out)
{
    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + t;
    unsigned char *bytes = (unsigned char *)(words + blockDim.x);

    words[t] = in[i];
    bytes[t] = t * 3;
    __syncthreads();
    unsigned int other = blockDim.x - 1 - t;
    out[i] = words[other] + bytes[other];
}
