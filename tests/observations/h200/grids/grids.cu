// Kernels that are short for each thread, in grids of one to 32 times their blocks, so that the
// whole GPU's rates decide: of launches, of loads and stores in L2 and DRAM, of atomics. grids.csv
// has sm__cycles_active.max of an H200 (driver 580.159.04, ncu with cold caches), the mean of two
// launches; `n` and the blocks grow by `times`. carve_outs.csv has the KB of L1 that the driver made
// shared memory (launch__shared_mem_config_size), for kernels by their threads in a block, registers
// of a thread, and bytes of shared memory.
//
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

__device__ __forceinline__ unsigned hash(unsigned i) {
    i *= 2654435761u;
    i ^= i >> 15;
    i *= 2246822519u;
    return i ^ i >> 13;
}
#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, unsigned n)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define LANE (threadIdx.x & 31)

KERNEL(load_word) {
    INDEX;
    if (in[i] == -7) out[0] = 1;
}
KERNEL(load_pair) {
    INDEX;
    int2 v = ((const int2 *)in)[i];
    if ((v.x & v.y) == -7) out[0] = 1;
}
KERNEL(load_quad) {
    INDEX;
    int4 v = ((const int4 *)in)[i];
    if ((v.x & v.y & v.z & v.w) == -7) out[0] = 1;
}
KERNEL(load_four) {
    unsigned j = blockIdx.x * 1024 + threadIdx.x;
    int a = in[j], b = in[j + 256], c = in[j + 512], d = in[j + 768];
    if ((a & b & c & d) == -7) out[0] = 1;
}
KERNEL(copy_word) {
    INDEX;
    out[i] = in[i] + 1;
}
KERNEL(copy_quad) {
    INDEX;
    int4 v = ((const int4 *)in)[i];
    v.x++;
    ((int4 *)out)[i] = v;
}
KERNEL(store_word) {
    INDEX;
    out[i] = i;
}
KERNEL(store_quad) {
    INDEX;
    ((int4 *)out)[i] = make_int4(i, i, i, i);
}
KERNEL(gather_one) {
    INDEX;
    if (in[hash(i) & (n - 1)] == -7) out[0] = 1;
}
KERNEL(gather_four) {
    INDEX;
    unsigned h = hash(i);
    int a = in[h & (n - 1)], b = in[(h * 5 + 1) & (n - 1)], c = in[(h * 13 + 7) & (n - 1)],
        d = in[(h * 29 + 3) & (n - 1)];
    if ((a & b & c & d) == -7) out[0] = 1;
}
KERNEL(gather_near) {
    INDEX;
    unsigned h = hash(i);
    int a = in[h & 65535], b = in[(h * 5 + 1) & 65535], c = in[(h * 13 + 7) & 65535],
        d = in[(h * 29 + 3) & 65535];
    if ((a & b & c & d) == -7) out[0] = 1;
}
KERNEL(load_sectors) {
    INDEX;
    if (in[(i * 8 + (i >> 13)) & (n - 1)] == -7) out[0] = 1;
}
KERNEL(load_lines) {
    INDEX;
    if (in[(i * 32 + (i >> 11)) & (n - 1)] == -7) out[0] = 1;
}
KERNEL(scatter) {
    INDEX;
    out[hash(i) & (n - 1)] = i;
}
KERNEL(store_sectors) {
    INDEX;
    out[(i * 8 + (i >> 13)) & (n - 1)] = i;
}
KERNEL(store_lines) {
    INDEX;
    out[(i * 32 + (i >> 11)) & (n - 1)] = i;
}
KERNEL(add_block) {
    atomicAdd(&out[threadIdx.x], 1 + (int)blockIdx.x);
}
KERNEL(add_line) {
    INDEX;
    if (LANE < 8) atomicAdd(&out[LANE], 1 + (int)i);
}
KERNEL(add_lines) {
    INDEX;
    if (LANE < 8) atomicAdd(&out[LANE * 32], 1 + (int)i);
}
KERNEL(add_one) {
    INDEX;
    if (LANE == 0) atomicAdd(&out[0], 1 + (int)i);
}
KERNEL(add_two_warps) {
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], 1 + (int)blockIdx.x);
}
KERNEL(add_anywhere) {
    INDEX;
    atomicAdd(&out[hash(i) & (n - 1)], 1);
}
KERNEL(add_table) {
    INDEX;
    atomicAdd(&out[i & 4095], 1);
}
KERNEL(add_own) {
    INDEX;
    atomicAdd(&out[i], 1);
}
