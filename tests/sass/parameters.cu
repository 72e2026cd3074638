//! kernel parameters
//! title  A function reads a structure where it stands, among the parameters
//! const  n = 32
//! grid   = 1
//! block  = n
//! buffer table: s32[8] = [3, 1, 4, 1, 5, 9, 2, 6]
//! buffer out: s32[n] = fill(0)
//! arg    0 = {a: s32 = [3, 1, 4, 1, 5, 9, 2, 6]}
//! arg    1 = out
//! expect out[i] == table[i % 8] + 10 * table[(i + 1) % 8] for i in 0..n
struct Row {
    int a[8];
};

__device__ __noinline__ int get(const int *row, int i)
{
    return row[i % 8] + 10 * row[(i + 1) % 8];
}

extern "C" __global__ void parameters(const __grid_constant__ Row row, int *out)
{
    out[threadIdx.x] = get(row.a, threadIdx.x);
}
