// Block barriers in two arms with work of their own. The compiler puts a WARPSYNC.ALL in front of
// each, at which lanes wait for all others of their warp: an H200 hangs.

extern "C" __global__ void barriersApart(const unsigned *in, unsigned *out)
{
    unsigned t = threadIdx.x;
    if (in[t] & 1) {
        out[t] = in[t] * 3;
        __syncthreads();
        out[t] += out[t ^ 1];
    } else {
        for (unsigned i = 0; i < in[t]; i++)
            out[t + 64] += i;
        __syncthreads();
        out[t + 64] *= 2;
    }
}
