// scan_hs: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel scan_hs
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void scan_hs(const int*in,int*out,unsigned n){
    __shared__ int s[2][256];
    int t=threadIdx.x,i=blockIdx.x*blockDim.x+t,p=0;
    s[0][t]=in[i];
    __syncthreads();
    for(int d=1;d<blockDim.x;d<<=1){
        s[p^1][t]=t>=d?s[p][t]+s[p][t-d]:s[p][t];
        p^=1;
        __syncthreads();
    }
    out[i]=s[p][t];
}
