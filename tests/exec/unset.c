/* Reads of device memory that nobody has written: kernel `add` adds 1 to each word of an array of
 * 64. The first array is written by a set, the second by a copy of half of its words, the third by
 * nobody, and then by a kernel.
 *
 *   cc -o unset unset.c -ldl && simt-sim exec --checks -- ./unset */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static const char *text =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry set(.param .u64 p) { .reg .b64 %p, %at; .reg .b32 %t;\n"
    "ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.u64 %p, %p, %at;\n"
    "st.global.u32 [%p], %t; ret; }\n"
    ".visible .entry add(.param .u64 p) { .reg .b64 %p, %at; .reg .b32 %t, %x;\n"
    "ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.u64 %p, %p, %at;\n"
    "ld.global.u32 %x, [%p]; add.u32 %x, %x, 1; st.global.u32 [%p], %x; ret; }\n";

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
#define FIND(name) int (*name)() = (int (*)())dlsym(driver, #name)
    FIND(cuInit); FIND(cuDevicePrimaryCtxRetain); FIND(cuCtxSetCurrent); FIND(cuMemAlloc_v2);
    FIND(cuModuleLoadData); FIND(cuModuleGetFunction); FIND(cuLaunchKernel); FIND(cuMemsetD32_v2);
    FIND(cuMemcpyHtoD_v2); FIND(cuCtxSynchronize); FIND(cuMemFree_v2);
    void *context = 0, *module = 0, *set = 0, *add = 0;
    uint64_t arrays[3];
    unsigned half[32] = {0};
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuModuleLoadData(&module, text);
    cuModuleGetFunction(&set, module, "set");
    cuModuleGetFunction(&add, module, "add");
    for (int i = 0; i < 3; i++) cuMemAlloc_v2(&arrays[i], (size_t)256);
    cuMemsetD32_v2(arrays[0], 5, (size_t)64);
    cuMemcpyHtoD_v2(arrays[1], half, sizeof half);
    for (int i = 0; i < 5; i++) {
        void *arguments[] = {&arrays[i < 3 ? i : 2]};
        void *kernel = i == 3 ? set : add;
        fprintf(stderr, "launch %d\n", i);
        cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, (void *)0, arguments, (void *)0);
        cuCtxSynchronize();
    }
    for (int i = 0; i < 3; i++) cuMemFree_v2(arrays[i]);
    return 0;
}
