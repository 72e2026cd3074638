// Asynchronous copies of several lanes to one place, and rows of matrices at one place: which of
// them stays. An H200 ran the kernels (driver 580.159.04): the digest of what each leaves in `out`
// is in copies.csv. Block b has places for at most 1 + b / 2 copies, or 1 + b / 4 rows.
//
//! grid   = 128
//! block  = 32
//! buffer out: u32[128 * 256] = fill(0)
//! arg    0 = out

__device__ __forceinline__ unsigned mixed(unsigned x) {
  x *= 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ x >> 13;
}

// Block b owns 256 words: what is left in shared memory, and what copies read. (Without the fence
// copies do not always see what their thread has stored.)
#define KERNEL(name, ...) \
  extern "C" __global__ void name(unsigned *out) { \
    __shared__ uint4 vectors[32]; \
    unsigned *words = (unsigned *)vectors, *own = out + blockIdx.x * 256; \
    for (int i = 0; i < 4; i++) words[threadIdx.x + 32 * i] = 0; \
    for (int i = 0; i < 4; i++) own[128 + 4 * threadIdx.x + i] = mixed(4 * threadIdx.x + i); \
    __syncthreads(); \
    __threadfence(); \
    unsigned shared = (unsigned)__cvta_generic_to_shared(words); \
    __VA_ARGS__; \
    __syncthreads(); \
    for (int i = 0; i < 4; i++) own[threadIdx.x + 32 * i] = words[threadIdx.x + 32 * i]; \
  }

template <int bytes> __device__ __forceinline__ void copy(unsigned *own, unsigned shared) {
  unsigned block = blockIdx.x, places = min(block / 2 + 1, 512u / bytes);
  unsigned copied_by = block % 3 == 0 ? ~0u : mixed(block);
  unsigned to = shared + mixed(block * 32 + threadIdx.x + 4096 * bytes) % places * bytes;
  if (copied_by >> threadIdx.x & 1)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to),
                 "l"(own + 128 + 4 * threadIdx.x), "n"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
}
KERNEL(copies_4, copy<4>(own, shared))
KERNEL(copies_8, copy<8>(own, shared))
KERNEL(copies_16, copy<16>(own, shared))

#define ROWS(form) \
  unsigned to = shared + mixed(blockIdx.x * 32 + threadIdx.x) % (blockIdx.x / 4 + 1) * 16; \
  unsigned v = threadIdx.x * 0x10003 + blockIdx.x; \
  asm volatile("stmatrix.sync.aligned.m8n8.x4" form ".shared.b16 [%0], {%1, %2, %3, %4};" \
               ::"r"(to), "r"(v), "r"(v * 3), "r"(v * 5), "r"(v * 7) : "memory")
KERNEL(rows, ROWS(""))
KERNEL(rows_transposed, ROWS(".trans"))
