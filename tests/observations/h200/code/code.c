// Cycles of the sections of make.py's kernels, one line for each launch: a module that is new, and
// launched three times, with the code in L2 or (`flushed`) with L2 full of other data.
//
//     cc code.c -lcuda -o code && ./code > clocks.txt
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                        \
    do {                                                   \
        CUresult r = (call);                               \
        if (r) { fprintf(stderr, #call ": %d\n", r); exit(1); } \
    } while (0)

static unsigned clocks[132 * 257];

int main(void) {
    CUdevice device;
    CUcontext context;
    CUdeviceptr out, other;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&out, sizeof clocks));
    CHECK(cuMemAlloc(&other, 512u << 20));
    for (int sections = 64; sections <= 256; sections *= 4)
        for (int blocks = 1; blocks <= 132; blocks += 131)
            for (int threads = 32; threads <= 64; threads += 32)
                for (int flushed = 0; flushed < 2; flushed++) {
                    CUmodule module;
                    CUfunction kernel;
                    CHECK(cuModuleLoad(&module, "code.cubin"));
                    CHECK(cuModuleGetFunction(&kernel, module, sections == 64 ? "code64" : "code256"));
                    for (int launch = 1; launch <= 3; launch++) {
                        unsigned a = 3, b = 5;
                        void *arguments[] = {&out, &a, &b};
                        if (flushed) CHECK(cuMemsetD8(other, launch, 512u << 20));
                        CHECK(cuCtxSynchronize());
                        CHECK(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, 0, arguments, 0));
                        CHECK(cuCtxSynchronize());
                        CHECK(cuMemcpyDtoH(clocks, out, sizeof clocks));
                        unsigned *own = clocks + (blocks == 1 ? 0 : 77) * (sections + 1);
                        printf("sections %d blocks %d threads %d flushed %d launch %d:", sections,
                               blocks, threads, flushed, launch);
                        for (int i = 0; i < sections; i++) printf(" %u", own[i + 1] - own[i]);
                        printf("\n");
                    }
                    CHECK(cuModuleUnload(module));
                }
    return 0;
}
