// Merge path: builds two sorted lists by prefix sums of deltas, then merges them 4 per thread.
//
//! kernel db_merge_path
//! const  n = 65536
//! grid   = 64
//! block  = 256
//! buffer in: s32[n] = lcg(12345)
//! buffer out: s32[n] = fill(0)
//! arg    0 = in
//! arg    1 = out
//! arg    2 = n

extern "C" __global__ void db_merge_path(const int *in, int *out, unsigned n) {
    __shared__ int s[1024], wsum[8];
    unsigned t = threadIdx.x, lane = t & 31, w = t >> 5;
    unsigned quad = blockIdx.x * 256 + t;
    if (blockIdx.x * 1024 + 1024 > n)
        return;

    int4 q = reinterpret_cast<const int4 *>(in)[quad];
    int a0 = (q.x >> 27) & 15, a1 = a0 + ((q.y >> 27) & 15);
    int a2 = a1 + ((q.z >> 27) & 15), a3 = a2 + ((q.w >> 27) & 15);
    int x = a3;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(~0u, x, d);
        if ((int)lane >= d)
            x += y;
    }
    if (lane == 31)
        wsum[w] = x;
    __syncthreads();
    x -= a3;
    for (unsigned k = w & 4; k < w; k++)
        x += wsum[k];
    s[4 * t] = x + a0;
    s[4 * t + 1] = x + a1;
    s[4 * t + 2] = x + a2;
    s[4 * t + 3] = x + a3;
    __syncthreads();

    const int *A = s, *B = s + 512;
    int diag = 4 * t, lo = max(0, diag - 512), hi = min(diag, 512);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (A[mid] <= B[diag - 1 - mid])
            lo = mid + 1;
        else
            hi = mid;
    }
    int a = lo, b = diag - lo, res[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        bool takeA = b >= 512 || (a < 512 && A[a] <= B[b]);
        res[r] = takeA ? A[a++] * 2 : B[b++] * 2 + 1;
    }
    reinterpret_cast<int4 *>(out)[quad] = make_int4(res[0], res[1], res[2], res[3]);
}
