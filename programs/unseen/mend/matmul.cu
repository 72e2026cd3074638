// matmul: recorded on an H200 once; its figures are in profile.csv.
//
//! kernel matmul
//! const  n = 65536
//! grid   = 256
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void matmul(const int*in,int*out,unsigned n){
    __shared__ float a[16][16],b[16][16];
    unsigned tx=threadIdx.x&15,ty=threadIdx.x>>4,bx=blockIdx.x&15,by=(blockIdx.x>>4)&15;
    float acc=0;
    for(int k=0;k<256;k+=16){
        a[ty][tx]=(float)(in[((by*16+ty)*256+k+tx)%n]&15);
        b[ty][tx]=(float)(in[((k+ty)*256+bx*16+tx)%n]&15);
        __syncthreads();
        for(int j=0;j<16;j++) acc=fmaf(a[ty][j],b[j][tx],acc);
        __syncthreads();
    }
    out[(by*16+ty)*256+bx*16+tx]=__float_as_int(acc);
}
