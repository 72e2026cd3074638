// histo: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel histo
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void histo(const int*in,int*out,unsigned n){
    __shared__ int h[64];
    int t=threadIdx.x;
    if(t<64) h[t]=0;
    __syncthreads();
    for(unsigned i=blockIdx.x*blockDim.x+t;i<n;i+=gridDim.x*blockDim.x) atomicAdd(&h[in[i]&63],1);
    __syncthreads();
    if(t<64) atomicAdd(&out[t],h[t]);
}
