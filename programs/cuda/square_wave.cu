// A square wave of work: in each period of P threads, the first H work eighty times as long as the
// others. A warp takes the time of its slowest lane, and of both sides if its lanes disagree. With
// a period of 64, half of it heavy, whole warps are heavy or light; with 32 or 62, warps are mixed.
// The question of 2009 named 0.872 s for 64, 1.370 for 32, 1.394 for all heavy and 1.063 for 62; a
// recent GPU takes as long for 62 as for 32, because all warps are mixed there, too.
//
// --set period=32 --set heavy=16    or (period, heavy) = (64,32) (62,31) (66,33) (56,28) (48,24)
// --set period=1 --set heavy=1      all threads heavy; heavy=0: all light
// --set long=8 --set short=1        fewer iterations
//
//! kernel squareWave
//! title  Square wave in double precision (nvcc)
//! const  n = 512
//! const  block = 256
//! const  period = 64
//! const  heavy = 32
//! const  long = 8
//! const  short = 1
//! grid   = ceil_div(n, block)
//! block  = block
//! registers = 32  # ptxas 13.0 for sm_90
//! buffer out: f64[n] = fill(-1)
//! arg    0 = out
//! arg    1 = period
//! arg    2 = heavy
//! arg    3 = long
//! arg    4 = short
//! expect min(out) > 0
//! expect max(out) < 1

// One iteration: two sines, their maximum, a root, a cosine and a power. All results are between 0
// and 1, and each feeds the next, so nothing can be optimized away.
__device__ __forceinline__ double step(double x, double phase)
{
    double top = fmax(fabs(sin(x + phase)), sin(x * phase));
    return pow(cos(sqrt(top)), 1.5);
}

extern "C" __global__ void squareWave(double *out, unsigned int period, unsigned int heavy, int longRun, int shortRun)
{
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    double phase = 0.001 * idx + 1.0;
    double x = 0.5;

    if (idx % period < heavy) {
        for (int i = 0; i < longRun; i++)
            x = step(x, phase);
    } else {
        for (int i = 0; i < shortRun; i++)
            x = step(x, phase);
    }
    out[idx] = x;
}
