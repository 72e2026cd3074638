// Launches kernels of cubin files on the first GPU and prints a digest of each `out`:
//   host FOLDER KERNEL:GRID:BLOCK ..
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        const char *name = "unknown";
        cuGetErrorName(result, &name);
        fprintf(stderr, "error: %s: %s\n", what, name);
        exit(1);
    }
}
#define CHECK(call) check(call, #call)

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUctxCreateParams params = {};
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, &params, 0, device));
    CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 8192));

    unsigned n = 65536, s = 12345;
    std::vector<int> in(n), out(n);
    for (unsigned i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        in[i] = (s >> 8) & 0xffff;
    }
    CUdeviceptr din, dout;
    CHECK(cuMemAlloc(&din, n * 4));
    CHECK(cuMemAlloc(&dout, n * 4));
    CHECK(cuMemcpyHtoD(din, in.data(), n * 4));

    for (int a = 2; a < argc; a++) {
        char kernel[64];
        int grid, block;
        if (sscanf(argv[a], "%63[^:]:%d:%d", kernel, &grid, &block) != 3)
            return 2;
        CUmodule module;
        CUfunction function;
        CHECK(cuModuleLoad(&module, (std::string(argv[1]) + "/" + kernel + ".cubin").c_str()));
        CHECK(cuModuleGetFunction(&function, module, kernel));
        CHECK(cuMemsetD32(dout, 0, n));
        void *args[] = {&din, &dout, &n};
        CHECK(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, args, 0));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoH(out.data(), dout, n * 4));
        unsigned long long digest = 1469598103934665603ull;
        for (int word : out) {
            digest ^= (unsigned)word;
            digest *= 1099511628211ull;
        }
        printf("OUT %s grid=%d block=%d fnv=%016llx first=%d,%d,%d,%d\n", kernel, grid, block, digest, out[0], out[1],
               out[2], out[3]);
        fflush(stdout);
    }
}
