/* What frameworks that compile kernels themselves ask of a driver: where allocations begin, forms of
   PTX, the launch calls before CUDA 4, memory of pools behind the end of a context.

     cc -o launch_answers launch_answers.c -ldl && simt-sim exec -- ./launch_answers

   launch_answers.txt is what an H200's driver printed (580.159.04, CUDA 13.0, 2026-12-01). */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long Address;

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define ENTRY ".visible .entry k(.param .u64 p)"

static int (*load)(void **, const char *), (*find)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **);
static int (*synchronize)(void), (*back)(void *, Address, size_t);
static Address out;

/* Loads a text, runs its kernel with 32 threads, and prints three words of what it leaves. */
static void *run(const char *name, const char *text) {
    void *module = 0, *kernel = 0, *arguments[] = {&out};
    unsigned words[3] = {0};
    int loaded = load(&module, text);
    printf("%s: load %d", name, loaded);
    if (!loaded) {
        find(&kernel, module, "k");
        printf(" launch %d", launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
        fflush(stdout);
        printf(" end %d", synchronize());
        back(words, out, sizeof words);
    }
    printf(" left %u %u %u\n", words[0], words[1], words[2]);
    return kernel;
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
#define FIND(name) int (*name)() = (int (*)())dlsym(driver, #name)
    FIND(cuInit); FIND(cuDevicePrimaryCtxRetain); FIND(cuCtxSetCurrent); FIND(cuMemAlloc_v2);
    FIND(cuMemFree_v2); FIND(cuOccupancyMaxPotentialBlockSize); FIND(cuFuncGetAttribute);
    FIND(cuFuncSetBlockShape); FIND(cuFuncSetSharedSize); FIND(cuParamSetSize); FIND(cuParamSetv);
    FIND(cuParamSeti); FIND(cuLaunch); FIND(cuLaunchGrid); FIND(cuCtxCreate_v2); FIND(cuCtxDetach);
    FIND(cuCtxDestroy_v2); FIND(cuMemAllocAsync); FIND(cuMemFreeAsync); FIND(cuStreamSynchronize);
    load = (int (*)(void **, const char *))dlsym(driver, "cuModuleLoadData");
    find = (int (*)(void **, void *, const char *))dlsym(driver, "cuModuleGetFunction");
    launch = (void *)dlsym(driver, "cuLaunchKernel");
    synchronize = (int (*)(void))dlsym(driver, "cuCtxSynchronize");
    back = (int (*)(void *, Address, size_t))dlsym(driver, "cuMemcpyDtoH_v2");

    void *context = 0, *other = 0;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuMemAlloc_v2(&out, (size_t)1024);

    size_t sizes[] = {(1 << 20) - 512, 1 << 20, 3 << 20, 100 << 20};
    for (int i = 0; i < 4; i++) {
        Address at = 0;
        int result = cuMemAlloc_v2(&at, sizes[i]);
        printf("%zu bytes: %d, begins a page: %d\n", sizes[i], result, at % (2 << 20) == 0);
        cuMemFree_v2(at);
    }

    run("elements", HEAD ENTRY "{ .local .align 16 .b8 l[64]; .shared .align 4 .b32 s[8];\n"
        ".reg .b64 %r<4>; .reg .b32 %x; ld.param.u64 %r0, [p]; mov.u64 %r1, l[8];\n"
        "mov.u64 %r2, l; sub.u64 %r1, %r1, %r2; st.global.u32 [%r0], %r1; mov.u64 %r1, s[3];\n"
        "mov.u64 %r2, s; sub.u64 %r1, %r1, %r2; st.global.u32 [%r0+4], %r1;\n"
        "mov.u32 %x, 7; st.shared.u32 s[2], %x; ld.shared.u32 %x, s[2];\n"
        "st.global.u32 [%r0+8], %x; ret; }\n");
    run("printing without a result",
        HEAD ".extern .func vprintf (.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 t[4] = {104, 105, 10, 0};\n" ENTRY
        "{ .reg .b64 %r<3>; .reg .pred %q; .reg .b32 %l; mov.u32 %l, %laneid;\n"
        "setp.ne.u32 %q, %l, 0; @%q bra End; mov.u64 %r0, t; cvta.global.u64 %r0, %r0;\n"
        "mov.u64 %r1, 0; { .param .b64 a0; .param .b64 a1; st.param.b64 [a0], %r0;\n"
        "st.param.b64 [a1], %r1; call.uni vprintf, (a0, a1); }\nEnd: ret; }\n");
    void *kernel = run("external arrays with sizes",
        HEAD ".extern .shared .align 8 .b8 a[256];\n.extern .shared .align 8 .b8 b[128];\n" ENTRY
        "{ .reg .b64 %r<4>; .reg .b32 %x, %l; ld.param.u64 %r0, [p]; mov.u64 %r1, b;\n"
        "mov.u64 %r2, a; sub.u64 %r1, %r1, %r2; st.global.u32 [%r0], %r1; mov.u32 %l, %laneid;\n"
        "mul.wide.u32 %r3, %l, 4; add.u64 %r1, %r2, %r3; st.shared.u32 [%r1], %l;\n"
        "bar.sync 0; ld.shared.u32 %x, [a+124]; st.global.u32 [%r0+4], %x; ret; }\n");
    int value = 0;
    printf("static shared memory: %d", cuFuncGetAttribute(&value, 1, kernel));
    printf(" %d bytes\n", value);

    int grid = 0, block = 0;
    kernel = run("a limit of 128 threads", HEAD ENTRY " .maxntid 128, 1, 1\n{ ret; }\n");
    value = cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel, (void *)0, (size_t)0, 0);
    printf("best block: %d %d\n", value, block);

    void *module = 0;
    load(&module, HEAD ".visible .entry old(.param .u64 p, .param .u32 n)\n"
         "{ .reg .b64 %r<2>; .reg .b32 %x<4>; ld.param.u64 %r0, [p]; ld.param.u32 %x0, [n];\n"
         "mov.u32 %x1, %nctaid.x; mov.u32 %x2, %ntid.y; st.global.u32 [%r0], %x0;\n"
         "st.global.u32 [%r0+4], %x1; st.global.u32 [%r0+8], %x2; ret; }\n");
    find(&kernel, module, "old");
    unsigned words[3] = {0};
    printf("set: %d %d", cuFuncSetBlockShape(kernel, 4, 2, 1), cuFuncSetSharedSize(kernel, 64));
    printf(" %d", cuParamSetSize(kernel, 12));
    printf(" %d", cuParamSetv(kernel, 0, &out, 8));
    printf(" %d", cuParamSeti(kernel, 8, 99));
    printf(" launch %d", cuLaunchGrid(kernel, 3, 1));
    printf(" end %d", synchronize());
    back(words, out, sizeof words);
    printf(" left %u %u %u\n", words[0], words[1], words[2]);
    printf("once more: launch %d", cuLaunch(kernel));
    printf(" end %d", synchronize());
    back(words, out, sizeof words);
    printf(" left %u %u %u\n", words[0], words[1], words[2]);
    printf("no blocks: %d, no threads: %d\n", cuLaunchGrid(kernel, 0, 1),
           cuFuncSetBlockShape(kernel, 0, 1, 1));

    Address pooled = 0;
    printf("context: %d", cuCtxCreate_v2(&other, 0, 0));
    printf(" allocation: %d", cuMemAllocAsync(&pooled, (size_t)4096, (void *)0));
    printf(" wait: %d", cuStreamSynchronize((void *)0));
    printf(" end: %d", cuCtxDestroy_v2(other));
    cuCtxSetCurrent(context);
    printf(" free: %d\n", cuMemFreeAsync(pooled, (void *)0));
    printf("context: %d", cuCtxCreate_v2(&other, 0, 0));
    printf(" detached: %d\n", cuCtxDetach(other));
    return 0;
}
