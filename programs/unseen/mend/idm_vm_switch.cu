// Interprets a small accumulator machine per thread, with a switch and a stack in local memory.
//
//! kernel idm_vm_switch
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void idm_vm_switch(const int *in, int *out, unsigned n) {
    __shared__ unsigned prog[64];
    unsigned t = threadIdx.x, id = blockIdx.x * blockDim.x + t;
    if (t < 64)
        prog[t] = (unsigned)in[blockIdx.x * 64 + t];
    __syncthreads();
    if (id >= n)
        return;

    unsigned st[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    unsigned acc = (unsigned)in[n - 1 - id], sp = 0, pc = acc >> 30;
    for (int fuel = 48; fuel > 0; fuel--) {
        unsigned w = prog[pc & 63], imm = w >> 8 & 0xffff;
        pc++;
        switch (w >> 29) {
        case 0:
            st[sp++ & 7] = acc;
            acc ^= imm;
            break;
        case 1:
            acc += st[--sp & 7];
            break;
        case 2:
            acc = acc * (st[imm & 7] | 1) + 1;
            break;
        case 3:
            st[imm & 7] ^= acc;
            break;
        case 4:
            acc = __funnelshift_l(acc, acc, imm & 31);
            break;
        case 5:
            if (acc >> (imm & 31) & 1)
                pc += imm & 7;
            break;
        case 6:
            if (acc > w << 3)
                pc -= imm & 15;
            acc = acc * 5 + 77;
            break;
        default:
            acc -= __popc(w ^ acc);
            if ((acc & 31) == 0)
                fuel = 1;
        }
    }
    out[id] = (int)(acc ^ st[sp & 7]);
}
