// Lanes of a warp that are apart at a block barrier, or that recursion has parted for good. An H100 ran the
// kernels (driver 580.159.04): the digest of what each leaves in `out` is in apart-outputs.csv.
//
//! const  n = 16384
//! grid   = 1
//! block  = 64
//! buffer in: u32[256] = random(7, 0..4000000000)
//! buffer out: u32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

// BAR counts warps: lanes that come first arrive for all.
extern "C" __global__ void barrier_arms(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ volatile unsigned s[64];
  unsigned tid = threadIdx.x;
  s[tid] = 7u;
  __syncthreads();
  if (tid < 16u) {
    long long t = clock64();
    while (clock64() - t < 5000);
    s[tid] = 1u;
    asm volatile("bar.sync 0;");
    out[tid] = s[tid + 16u];
  } else {
    s[tid] = 2u;
    asm volatile("bar.sync 0;");
    out[tid] = s[tid & 15u];
  }
}

// barrier.sync lets the lanes of a warp meet first (WARPSYNC.COLLECTIVE.ALL).
extern "C" __global__ void barrier_meets(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ volatile unsigned s[64];
  unsigned tid = threadIdx.x;
  s[tid] = 7u;
  __syncthreads();
  if (tid < 16u) {
    long long t = clock64();
    while (clock64() - t < 5000);
    s[tid] = 1u;
    asm volatile("barrier.sync 0;");
    out[tid] = s[tid + 16u];
  } else {
    s[tid] = 2u;
    asm volatile("barrier.sync 0;");
    out[tid] = s[tid & 15u];
  }
}

// Numbers and counts in registers.
extern "C" __global__ void barrier_numbers(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ volatile unsigned s[64];
  unsigned tid = threadIdx.x, own = 1u + (in[0] & 3u) + tid / 32u, both = 9u + (in[1] & 3u), count = in[2] > 4000000000u ? 64u : 32u;
  s[tid] = in[tid];
  asm volatile("bar.sync %0, %1;" ::"r"(own), "r"(count));
  out[tid] = s[tid ^ 31u];
  asm volatile("bar.sync %0;" ::"r"(both));
  s[tid ^ 32u] = in[tid + 64u];
  asm volatile("bar.sync 3, %0;" ::"r"(2u * count));
  out[64u + tid] = s[tid];
  asm volatile("bar.sync %0, 64;" ::"r"(both));
  s[tid] = tid;
  if (tid < 32u) {
    asm volatile("bar.arrive %0, %1;" ::"r"(both), "r"(2u * count));
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(both), "r"(2u * count));
    out[128u + tid] = s[tid - 32u];
  }
  unsigned odd;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, %2, %3, p; }" : "=r"(odd) : "r"(in[tid] & 1u), "r"(own), "r"(count));
  out[192u + tid] = odd;
}

// The others log, by warp, which lanes were where: LOG stores a number of the place at the next index,
// and lanes that are together store it at the same one.
#define LOG(place) { unsigned at = cnt[warp]; cnt[warp] = at + 1u; L[(at & 255u) * 32u + lane] = (place); }
__device__ __shared__ volatile unsigned cnt[2];
__device__ __forceinline__ unsigned mixed(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16);
}

__device__ unsigned k622_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ __noinline__ unsigned k622_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(3*64+d+1);
x=mixed(x+63u);
if(d>0u&&(mixed(x+77u)&1u)==0u){ LOG(1*64+d+1); x=x*5u+k622_f0(d-1u,mixed(x+0u),lane,warp,L); LOG(2*64+d+1); }
LOG(4*64+d+1); return x; }
extern "C" __global__ void k622(const unsigned* in, unsigned* out, unsigned n) {
 
  unsigned warp=threadIdx.x>>5, lane=threadIdx.x&31u, d=1u, x=in[threadIdx.x];
  volatile unsigned* L=out+warp*8192u;
  cnt[warp]=0u;
  if((mixed(x^217u)%3u)<2u) x=mixed(x);
 LOG(5*64+1); if(((lane^d)&4u)){ x+=k622_f0(4u,x,lane,warp,L); } else { x+=k622_f0(2u,x^7u,lane,warp,L); } LOG(6*64+1);  
  if (x == 12345u) out[n-1u]=x;
}

__device__ unsigned k636_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ __noinline__ unsigned k636_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(4*64+d+1);
LOG(1*64+d+1);
if(d>0u&&lane<26u){ LOG(2*64+d+1); x=x*5u+k636_f0(d-1u,mixed(x+0u),lane,warp,L); LOG(3*64+d+1); }
LOG(5*64+d+1); return x; }
extern "C" __global__ void k636(const unsigned* in, unsigned* out, unsigned n) {
 
  unsigned warp=threadIdx.x>>5, lane=threadIdx.x&31u, d=1u, x=in[threadIdx.x];
  volatile unsigned* L=out+warp*8192u;
  cnt[warp]=0u;
  
 LOG(6*64+1); if((mixed(x^18u)%7u)<1u){ x+=k636_f0(2u,x,lane,warp,L); } else { x+=k636_f0(2u,x^7u,lane,warp,L); } LOG(7*64+1);  
  if (x == 12345u) out[n-1u]=x;
}

__device__ unsigned k672_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ __noinline__ unsigned k672_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(5*64+d+1);
LOG(1*64+d+1);
LOG(2*64+d+1);
if(d>0u&&((lane^d)&1u)){ LOG(3*64+d+1); x=x*5u+k672_f0(d-1u,mixed(x+7u),lane,warp,L); LOG(4*64+d+1); }
LOG(6*64+d+1); return x; }
extern "C" __global__ void k672(const unsigned* in, unsigned* out, unsigned n) {
 
  unsigned warp=threadIdx.x>>5, lane=threadIdx.x&31u, d=1u, x=in[threadIdx.x];
  volatile unsigned* L=out+warp*8192u;
  cnt[warp]=0u;
  if((mixed(x+52u)&1u)==0u) x=mixed(x);
 LOG(7*64+1); if(lane<23u){ x+=k672_f0(3u,x,lane,warp,L); } else { x+=k672_f0(2u,x^7u,lane,warp,L); } LOG(8*64+1);  
  if (x == 12345u) out[n-1u]=x;
}

__device__ unsigned k607_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ unsigned k607_f1(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ unsigned k607_f2(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ __noinline__ unsigned k607_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(4*64+d+1);
x=mixed(x+14u);
LOG(1*64+d+1);
if(d>0u&&(mixed(x+20u)&3u)==0u){ LOG(2*64+d+1); x=x*5u+k607_f0(d-1u,mixed(x+7u),lane,warp,L); LOG(3*64+d+1); }
LOG(5*64+d+1); return x; }
__device__ __noinline__ unsigned k607_f1(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(18*64+d+1);
LOG(6*64+d+1);
if(d>0u&&(mixed(x+11u)&1u)==0u){ LOG(7*64+d+1); x=x*5u+k607_f2(d-1u,mixed(x+4u),lane,warp,L); LOG(8*64+d+1); }
if(d>0u&&((lane^d)&4u)){ LOG(9*64+d+1); x=x*5u+k607_f1(d-1u,mixed(x+4u),lane,warp,L); LOG(10*64+d+1); }
for(unsigned k=0;k<(mixed(x+77u)&3u);k++){
if(lane<12u){
if(lane<19u) { LOG(11*64+d+1); return x*3u; }
if(d>0u&&lane<14u){ LOG(12*64+d+1); x=x*5u+k607_f1(d-1u,mixed(x+3u),lane,warp,L); LOG(13*64+d+1); }
}else{
LOG(14*64+d+1);
if(d>0u&&((lane^d)&4u)){ LOG(15*64+d+1); x=x*5u+k607_f1(d-1u,mixed(x+5u),lane,warp,L); LOG(16*64+d+1); }
}
 x+=k; LOG(17*64+d+1); }
LOG(19*64+d+1); return x; }
__device__ __noinline__ unsigned k607_f2(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(34*64+d+1);
if(d>0u&&lane<17u){ LOG(20*64+d+1); x=x*5u+k607_f2(d-1u,mixed(x+5u),lane,warp,L); LOG(21*64+d+1); }
if(lane<13u){
if(((lane^d)&8u)){
if(d>0u&&lane<22u){ LOG(22*64+d+1); x=x*5u+k607_f2(d-1u,mixed(x+6u),lane,warp,L); LOG(23*64+d+1); }
}else{
LOG(24*64+d+1);
if(d>0u&&(mixed(x^78u)%3u)<2u){ LOG(25*64+d+1); x=x*5u+k607_f0(d-1u,mixed(x+8u),lane,warp,L); LOG(26*64+d+1); }
}
if((mixed(x^755u)%3u)<2u) { LOG(27*64+d+1); return x*3u; }
}
if((mixed(x^891u)%7u)<2u){
LOG(28*64+d+1);
}else{
if((mixed(x+52u)&1u)==0u){
LOG(29*64+d+1);
if(((lane^d)&2u)) { LOG(30*64+d+1); return x*3u; }
}
}
if(((lane^d)&1u)){
if(d>0u&&(mixed(x^251u)%7u)<2u){ LOG(31*64+d+1); x=x*5u+k607_f2(d-1u,mixed(x+1u),lane,warp,L); LOG(32*64+d+1); }
LOG(33*64+d+1);
}else{
x=mixed(x+82u);
}
LOG(35*64+d+1); return x; }
extern "C" __global__ void k607(const unsigned* in, unsigned* out, unsigned n) {
 
  unsigned warp=threadIdx.x>>5, lane=threadIdx.x&31u, d=1u, x=in[threadIdx.x];
  volatile unsigned* L=out+warp*8192u;
  cnt[warp]=0u;
  if((mixed(x^795u)%5u)<2u) x=mixed(x);
 LOG(36*64+1); x+=k607_f0(2u,x,lane,warp,L); LOG(37*64+1);  
  if (x == 12345u) out[n-1u]=x;
}

__device__ unsigned k621_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ __noinline__ unsigned k621_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(7*64+d+1);
if(d>0u&&((lane^d)&2u)){ LOG(1*64+d+1); x=x*5u+k621_f0(d-1u,mixed(x+5u),lane,warp,L); LOG(2*64+d+1); }
if(d>0u&&((lane^d)&2u)){ LOG(3*64+d+1); x=x*5u+k621_f0(d-1u,mixed(x+5u),lane,warp,L); LOG(4*64+d+1); }
LOG(5*64+d+1);
LOG(6*64+d+1);
LOG(8*64+d+1); return x; }
extern "C" __global__ void k621(const unsigned* in, unsigned* out, unsigned n) {
 
  unsigned warp=threadIdx.x>>5, lane=threadIdx.x&31u, d=1u, x=in[threadIdx.x];
  volatile unsigned* L=out+warp*8192u;
  cnt[warp]=0u;
  if(lane<7u) x=mixed(x);
 LOG(9*64+1); if(lane<10u){ x+=k621_f0(4u,x,lane,warp,L); } else { x+=k621_f0(2u,x^7u,lane,warp,L); } LOG(10*64+1);  
  if (x == 12345u) out[n-1u]=x;
}

__device__ unsigned k665_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ unsigned k665_f1(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L);
__device__ __noinline__ unsigned k665_f0(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(6*64+d+1);
LOG(1*64+d+1);
if((mixed(x^919u)%3u)<2u){
LOG(2*64+d+1);
}
if(d>0u&&lane<22u){ LOG(3*64+d+1); x=x*5u+k665_f0(d-1u,mixed(x+4u),lane,warp,L); LOG(4*64+d+1); }
LOG(5*64+d+1);
LOG(7*64+d+1); return x; }
__device__ __noinline__ unsigned k665_f1(unsigned d,unsigned x,unsigned lane,unsigned warp, volatile unsigned* L){
LOG(16*64+d+1);
if(d>0u&&(mixed(x+53u)&3u)==0u){ LOG(8*64+d+1); x=x*5u+k665_f1(d-1u,mixed(x+1u),lane,warp,L); LOG(9*64+d+1); }
if((mixed(x^986u)%3u)<2u){
if((mixed(x+93u)&1u)==0u){
if(d>0u&&(mixed(x^81u)%5u)<2u){ LOG(10*64+d+1); x=x*5u+k665_f0(d-1u,mixed(x+8u),lane,warp,L); LOG(11*64+d+1); }
if(d>0u&&(mixed(x^63u)%7u)<2u){ LOG(12*64+d+1); x=x*5u+k665_f1(d-1u,mixed(x+4u),lane,warp,L); LOG(13*64+d+1); }
}
}
if(d>0u&&lane<20u){ LOG(14*64+d+1); x=x*5u+k665_f0(d-1u,mixed(x+6u),lane,warp,L); LOG(15*64+d+1); }
LOG(17*64+d+1); return x; }
extern "C" __global__ void k665(const unsigned* in, unsigned* out, unsigned n) {
 
  unsigned warp=threadIdx.x>>5, lane=threadIdx.x&31u, d=1u, x=in[threadIdx.x];
  volatile unsigned* L=out+warp*8192u;
  cnt[warp]=0u;
  if(lane<7u) x=mixed(x);
 LOG(18*64+1); x+=k665_f0(4u,x,lane,warp,L); LOG(19*64+1);  
  if (x == 12345u) out[n-1u]=x;
}
