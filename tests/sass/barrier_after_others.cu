// A block barrier in one arm, whose lanes wait in front of it until the others have ended.

extern "C" __global__ void barrierAfterOthers(const unsigned *in, unsigned *out)
{
    unsigned t = threadIdx.x;
    if (in[t] & 1) {
        out[t] = 7;
        __syncthreads();
        out[t] += out[t ^ 1];
    } else {
        for (unsigned i = 0; i < in[t]; i++)
            out[t] += i;
    }
}
