// Minimum and maximum, and reductions, whose opcodes are others before sm_90.
//
//! kernel extremes
//! title  Minimum, maximum and reductions
//! grid   = 2
//! block  = 64
//! buffer out: s32[130] = fill(0)
//! buffer in: s32[130] = (i * 37) % 101 - 50 for i
//! arg    0 = out
//! arg    1 = in
//! expect out[i] == min(in[i], in[i + 1]) + 1000 * max(in[i], in[i + 2]) for i in 0..128
//! expect out[128] == sum(in) - in[128] - in[129]

extern "C" __global__ void extremes(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = min(in[i], in[i + 1]) + 1000 * max(in[i], in[i + 2]);
    atomicAdd(&out[128], in[i]);
    atomicMax(&out[129], in[i]);
}
