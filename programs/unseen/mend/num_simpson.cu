// Adaptive Simpson integration of a narrow peak per thread, with a local stack of intervals.
//
//! kernel num_simpson
//! const  n = 65536
//! grid   = 64
//! block  = 128
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ float peak(float x, float at, float width) {
    const float d = x - at;
    return 1.0f / fmaf(d, d, width);
}

extern "C" __global__ void num_simpson(const int *in, int *out, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 2 + 1 >= n)
        return;
    const int2 v = reinterpret_cast<const int2 *>(in)[i];
    const float at = (float)((unsigned)v.x >> 8) * (1.0f / 16777216.0f);
    const float width = 0.004f + (float)((unsigned)v.y >> 8) * (0.1f / 16777216.0f);

    float4 stack[10];
    signed char level_of[10];
    int top = 0, level = 0;
    unsigned visits = 0;
    float x = 0.0f, sum = 0.0f;
    float left = peak(0.0f, at, width), mid = peak(0.5f, at, width), right = peak(1.0f, at, width);
    for (;;) {
        const float h = __int_as_float((127 - level) << 23);
        const float f1 = peak(x + 0.25f * h, at, width), f3 = peak(x + 0.75f * h, at, width);
        const float whole = h * (1.0f / 6.0f) * (left + 4.0f * mid + right);
        const float two = h * (1.0f / 12.0f) * (left + 4.0f * (f1 + f3) + 2.0f * mid + right);
        ++visits;
        if (level == 9 || (level > 1 && fabsf(two - whole) < 0.01f * h)) {
            sum += two + (two - whole) * (1.0f / 15.0f);
            if (top == 0)
                break;
            const float4 s = stack[--top];
            level = level_of[top];
            x = s.x, left = s.y, mid = s.z, right = s.w;
        } else {
            ++level;
            stack[top] = make_float4(x + 0.5f * h, mid, f3, right);
            level_of[top++] = (signed char)level;
            right = mid, mid = f1;
        }
    }
    __syncwarp();
    const unsigned most = __reduce_max_sync(~0u, visits);
    reinterpret_cast<int2 *>(out)[i] = make_int2(__float_as_int(sum), (int)(visits | most << 16));
}
