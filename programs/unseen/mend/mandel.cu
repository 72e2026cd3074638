// mandel: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel mandel
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void mandel(const int*in,int*out,unsigned n){
    unsigned i=blockIdx.x*blockDim.x+threadIdx.x;
    float cx=(i&255)*(3.0f/256)-2.2f,cy=(i>>8)*(2.4f/256)-1.2f,x=0,y=0;
    int k=0;
    for(;k<200;k++){
        float x2=x*x,y2=y*y;
        if(x2+y2>4.0f) break;
        y=2*x*y+cy;
        x=x2-y2+cx;
    }
    out[i]=k;
}
