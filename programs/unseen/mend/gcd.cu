// gcd: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel gcd
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void gcd(const int*in,int*out,unsigned n){
    unsigned i=blockIdx.x*blockDim.x+threadIdx.x;
    unsigned a=in[i]+1,b=in[(i*7+3)%n]*13+5;
    while(b){
        unsigned t=a%b;
        a=b;
        b=t;
    }
    out[i]=a;
}
