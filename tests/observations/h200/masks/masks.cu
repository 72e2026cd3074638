// What .sync instructions do in lanes outside of their member mask: one case per process.
//   nvcc -O3 -gencode arch=compute_90,code=sm_90 -cudart shared masks.cu -o masks
//   nvcc -O3 -ptx -arch=compute_90 masks.cu -o masks.ptx   (and the directives at its head)
//   ./masks N       runs case N, prints its name, the error and 32 + 32 words
//   ./masks count   prints the number of cases
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <cuda_runtime.h>

typedef unsigned u;
// o: 64 words, preset to 0xeeeeeeee. p[t] = 100 + 3 * t (lane 7 and 20: 107). m: mask. n: 1.
#define ARGS u *o, u *p, u m, int n
#define STRAIGHT(name, expr) extern "C" __global__ void name(ARGS) { u t = threadIdx.x, v = p[t]; o[t] = (u)(expr); }
// All lanes (n = 1) or those whose value is above 130 (n = 130) take the branch.
#define BRANCH(name, expr) extern "C" __global__ void name(ARGS) { u t = threadIdx.x, v = p[t], r = 7; \
  if ((int)v > n) { for (int i = 0; i < n / 100 + 1; i++) v = v + p[(v + i) & 31] % 2; r = (u)(expr); o[t + 32] = r + 1; } \
  o[t] = r; }

STRAIGHT(s_down, __shfl_down_sync(0xffff, v, 1))
STRAIGHT(s_up, __shfl_up_sync(0xffff, v, 16))
STRAIGHT(s_idx, __shfl_sync(0xffff, v, 31 - t))
STRAIGHT(s_xor, __shfl_xor_sync(0xffff, v, 16))
STRAIGHT(s_down_high, __shfl_down_sync(0xff00ff00, v, 1))
STRAIGHT(s_down_zero, __shfl_down_sync(0, v, 1))
STRAIGHT(s_down_one, __shfl_down_sync(1, v, 1))
STRAIGHT(s_ballot, __ballot_sync(0xffff, v % 2))
STRAIGHT(s_any, __any_sync(0xffff, v > 190))
STRAIGHT(s_all, __all_sync(0xffff, v < 148))
STRAIGHT(s_ballot_zero, __ballot_sync(0, v % 2))
STRAIGHT(s_match, __match_any_sync(0xffff, v))
extern "C" __global__ void s_match_all(ARGS) { u t = threadIdx.x, v = p[t] / 200; int q; o[t] = __match_all_sync(0xffff, v, &q); o[t + 32] = q; }
STRAIGHT(s_redux, __reduce_add_sync(0xffff, v))
STRAIGHT(s_redux_max, __reduce_max_sync(0xffff, v))
STRAIGHT(s_syncwarp, (__syncwarp(0xffff), v))
STRAIGHT(s_syncwarp_zero, (__syncwarp(0), v))
STRAIGHT(s_param, __shfl_down_sync(m, v, 1))
STRAIGHT(s_param_ballot, __ballot_sync(m, v % 2))
STRAIGHT(s_from_vote, __shfl_down_sync(__ballot_sync(0xffffffff, v % 2), v, 1))
STRAIGHT(s_halves, __shfl_down_sync(t < 16 ? 0xffff : 0xffff0000, v, 1))
STRAIGHT(s_lane_same, __shfl_down_sync(0xffff + v / 10000, v, 1))
STRAIGHT(s_lane_zero, __shfl_down_sync(v / 10000, v, 1))
extern "C" __global__ void s_lower(ARGS) { u t = threadIdx.x, v = p[t], l; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(l)); o[t] = __ballot_sync(l, v % 2); }
extern "C" __global__ void s_lower_shfl(ARGS) { u t = threadIdx.x, v = p[t], l; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(l)); o[t] = __shfl_down_sync(l, v, 1); }
extern "C" __global__ void s_elect(ARGS) { u t = threadIdx.x, l = 0, q = 0; asm volatile("{ .reg .pred a; elect.sync %0|a, 0xff00; selp.u32 %1, 1, 0, a; }" : "=r"(l), "=r"(q)); o[t] = l; o[t + 32] = q; }

BRANCH(b_down, __shfl_down_sync(0xffff, v, 1))
BRANCH(b_down_zero, __shfl_down_sync(0, v, 1))
BRANCH(b_ballot, __ballot_sync(0xffff, v % 2))
BRANCH(b_any, __any_sync(0xffff, v > 190))
BRANCH(b_match, __match_any_sync(0xffff, v))
BRANCH(b_redux, __reduce_add_sync(0xffff, v))
BRANCH(b_syncwarp, (__syncwarp(0xffff), v))
BRANCH(b_param, __shfl_down_sync(m, v, 1))

extern "C" __global__ void early(ARGS) { u t = threadIdx.x, v = p[t]; if ((int)v < n) return; o[t] = __shfl_down_sync(0xffff, v, 1); }
extern "C" __global__ void after_if(ARGS) { u t = threadIdx.x, v = p[t]; if (v > 130) for (int i = 0; i < n; i++) v = v * 3 + p[v & 31]; o[t] = __shfl_down_sync(0xffff, v, 1); }
extern "C" __global__ void after_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (u i = 0; i < t; i++) v = v + p[(v + i) & 31]; o[t] = __shfl_down_sync(0xffff, v, 1); }
extern "C" __global__ void in_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (u i = 0; i < v - 99; i += 50) v += __shfl_down_sync(0xffff, v, 1) % 3; o[t] = v; }
extern "C" __global__ void in_long_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (u i = 0; i < (t & 15) + 4; i++) v += __shfl_down_sync(0xffff, v, 1) % 3; o[t] = v; }
extern "C" __global__ void low_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (u i = 0; i < (t < 16 ? 8 : 4); i++) v += __shfl_down_sync(0xffff, v, 1) % 3; o[t] = v; }
extern "C" __global__ void lane_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (int i = 0; i < t; i++) v += __shfl_down_sync(0xffff, v, 1); o[t] = v; }
extern "C" __global__ void high_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (int i = 0; i < 40 - t; i++) v += __shfl_down_sync(0xffff, v, 1); o[t] = v; }
extern "C" __global__ void uniform_loop(ARGS) { u t = threadIdx.x, v = p[t]; for (int i = 0; i < n + 5; i++) v += __shfl_down_sync(0xffff, v, 1) % 3; o[t] = v; }
__device__ __noinline__ u function(u v) { return __shfl_down_sync(0xffff, v, 1); }
extern "C" __global__ void called(ARGS) { u t = threadIdx.x, v = p[t]; o[t] = function(v); }
extern "C" __global__ void called_apart(ARGS) { u t = threadIdx.x, v = p[t], r = 1; if ((int)v > n) r = function(v); o[t] = r; }
extern "C" __global__ void low_half(ARGS) { u t = threadIdx.x, v = p[t], r = 1; if (t >= 16) { v += p[v & 31]; r = __shfl_down_sync(0xffff, v, 1); o[t + 32] = v; } o[t] = r; }

struct Case { const char *name; void (*f)(ARGS); u m; int n; };
#define C(name) {#name, name, 0xffff, 1}
#define HALF(name) {#name " n=130", name, 0xffff, 130}
static const Case cases[] = {
  C(s_down), C(s_up), C(s_idx), C(s_xor), C(s_down_high), C(s_down_zero), C(s_down_one), C(s_ballot),
  C(s_any), C(s_all), C(s_ballot_zero), C(s_match), C(s_match_all), C(s_redux), C(s_redux_max),
  C(s_syncwarp), C(s_syncwarp_zero), C(s_param), {"s_param m=0", s_param, 0, 1}, C(s_param_ballot),
  {"s_param_ballot m=0", s_param_ballot, 0, 1}, C(s_from_vote), C(s_halves), C(s_lane_same),
  C(s_lane_zero), C(s_lower), C(s_lower_shfl), C(s_elect),
  C(b_down), HALF(b_down), C(b_down_zero), C(b_ballot), HALF(b_ballot), C(b_any), C(b_match),
  C(b_redux), C(b_syncwarp), HALF(b_syncwarp), C(b_param), HALF(b_param),
  C(early), HALF(early), C(after_if), C(after_loop), C(in_loop), C(in_long_loop), C(low_loop), C(lane_loop), C(high_loop),
  C(uniform_loop), C(called), C(called_apart), HALF(called_apart), C(low_half),
};
static const int COUNT = sizeof cases / sizeof cases[0];

int main(int argc, char **argv) {
  if (argc < 2 || !strcmp(argv[1], "count")) { printf("%d\n", COUNT); return 0; }
  int i = atoi(argv[1]);
  if (i < 0 || i >= COUNT) return 2;
  const Case &c = cases[i];
  u host[64], *o, *p;
  for (int k = 0; k < 64; k++) host[k] = 100 + 3 * k;
  host[20] = host[7];
  cudaMalloc(&o, sizeof host);
  cudaMalloc(&p, sizeof host);
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  memset(host, 0xee, sizeof host);
  cudaMemcpy(o, host, sizeof host, cudaMemcpyHostToDevice);
  c.f<<<1, 32>>>(o, p, c.m, c.n);
  time_t start = time(0);
  cudaError_t e;
  while ((e = cudaStreamQuery(0)) == cudaErrorNotReady) {
    if (time(0) - start > 8) { printf("%-20s hangs\n", c.name); fflush(stdout); _exit(3); }
    usleep(1000);
  }
  printf("%-20s error %d", c.name, (int)e);
  if (e == cudaSuccess) {
    cudaMemcpy(host, o, sizeof host, cudaMemcpyDeviceToHost);
    int used = 32;
    for (int k = 32; k < 64; k++) if (host[k] != 0xeeeeeeee) used = 64;
    for (int k = 0; k < used; k++) printf(" %x", host[k]);
  }
  puts("");
  fflush(stdout);
  _exit(0);
}
