// switch8: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel switch8
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void switch8(const int*in,int*out,unsigned n){
    unsigned i=blockIdx.x*blockDim.x+threadIdx.x;
    int x=in[i],r=i;
    for(int k=0;k<8;k++){
        switch((x>>k)&7){
            case 0:
            r=r*3+1;
            break;
            case 1:
            r^=r<<5;
            break;
            case 2:
            r-=x*k;
            break;
            case 3:
            r=(r>>3)|(r<<29);
            break;
            case 4:
            r+=x;
            break;
            case 5:
            r=~r;
            break;
            case 6:
            if(r&1){
                r/=3;
            }
            break;
            default:
            r=r%1001+k;
        }
    }
    out[i]=r;
}
