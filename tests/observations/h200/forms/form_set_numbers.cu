// Comparisons to numbers.
//
//! kernel form_set_numbers
//! const  n = 65536
//! grid   = 4
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void form_set_numbers(const int *in, int *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, mask;
    float a = (float)(in[i] & 255), b = (float)(in[i + 1] & 255), r, s;
    if (i % 7 == 0) a = __int_as_float(0x7fc00000);
    asm("set.gt.f32.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    asm("set.neu.f32.f32 %0, %1, %2;" : "=f"(s) : "f"(a), "f"(b));
    asm("set.lt.u32.f32 %0, %1, %2;" : "=r"(mask) : "f"(a), "f"(b));
    asm("{ .reg .pred p; setp.ne.u32 p, %3, 0; set.le.and.f32.f32 %0, %1, %2, p; }" : "+f"(b) : "f"(a), "f"(r), "r"(i & 1));
    out[i] = __float_as_int(r) + 3 * __float_as_int(s) + (mask & 5) + __float_as_int(b) / 3;
}
