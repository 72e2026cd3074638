// wide64: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel wide64
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void wide64(const int*in,int*out,unsigned n){
    unsigned i=blockIdx.x*blockDim.x+threadIdx.x;
    unsigned long long a=(unsigned long long)in[i]*0x100000001b3ull+i,b=a^0xcbf29ce484222325ull;
    long long q=(long long)b/((long long)(in[i]&1023)-511?((in[i]&1023)-511):1);
    unsigned long long h=__umul64hi(a,b)+(a<<(i&63))+(b>>(a&63));
    out[i]=(int)(h^(h>>32)^q^(q>>32));
}
