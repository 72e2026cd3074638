// bitonic: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel bitonic
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void bitonic(const int*in,int*out,unsigned n){
    __shared__ int s[256];
    int t=threadIdx.x,i=blockIdx.x*256+t;
    s[t]=in[i];
    for(int k=2;k<=256;k<<=1) for(int j=k>>1;j>0;j>>=1){
        __syncthreads();
        int x=t^j;
        if(x>t){
            bool up=(t&k)==0;
            if((s[t]>s[x])==up){
                int v=s[t];
                s[t]=s[x];
                s[x]=v;
            }
        }
    }
    __syncthreads();
    out[i]=s[t];
}
