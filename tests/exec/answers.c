/* Asks the runtime what programs ask by mistake, and prints what it answers: sizes of 0, pitches
 * that are too small, pointers and handles that it does not know, a context that a kernel broke.
 *
 *   cc -o answers answers.c -ldl && simt-sim exec -- ./answers
 *
 * answers.txt has what the runtime of CUDA 13.0 printed on an H200 (driver 580.159.04, 2026-11-30),
 * but for the limit of persistence in L2. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64);

static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 p)\n{\n.reg .b64 %a;\n"
    "ld.param.u64 %a, [p];\nst.global.u32 [%a], 7;\nret;\n}\n";

static void *library;
static char other[256];

static unsigned ask(const char *what, const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f,
                    u64 g) {
    Function function = (Function)dlsym(library, name);
    unsigned answer = function ? function(a, b, c, d, e, f, g, 0) : 9999;
    printf("%s, %s: %u\n", name, what, answer);
    fflush(stdout);
    return answer;
}
#define ASK(what, name, a, b, c, d, e, f, g) \
    ask(what, name, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f), (u64)(g))

/* Lets a kernel store to an address, by the driver. */
static void store(void *at) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *module = 0, *kernel = 0, *arguments[] = {&at};
    unsigned (*load)() = (unsigned (*)())dlsym(driver, "cuModuleLoadData");
    unsigned (*get)() = (unsigned (*)())dlsym(driver, "cuModuleGetFunction");
    unsigned (*launch)() = (unsigned (*)())dlsym(driver, "cuLaunchKernel");
    printf("store: %u, ", load(&module, PTX));
    printf("%u, ", get(&kernel, module, "store"));
    printf("%u\n", launch(kernel, 1, 1, 1, 1, 1, 1, 0, (void *)0, arguments, (void *)0));
}

int main(void) {
    library = dlopen("libcudart.so.13", RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    void *p = 0, *q = other, *pinned = 0;
    size_t n = 0;
    unsigned flags = 0;
    ASK("1 MB", "cudaMalloc", &p, 1 << 20, 0, 0, 0, 0, 0);
    ASK("0 bytes", "cudaMalloc", &q, 0, 0, 0, 0, 0, 0);
    printf("null %d\n", q == 0);
    q = other;
    ASK("0 bytes", "cudaMallocManaged", &q, 0, 1, 0, 0, 0, 0);
    printf("null %d\n", q == 0);
    ASK("wrong flags", "cudaMallocManaged", &q, 16, 77, 0, 0, 0, 0);
    ASK("2^60 bytes", "cudaMalloc", &q, 1ull << 60, 0, 0, 0, 0, 0);
    ASK("middle of memory", "cudaFree", (char *)p + 16, 0, 0, 0, 0, 0, 0);
    ASK("host memory", "cudaFree", other, 0, 0, 0, 0, 0, 0);
    ASK("device memory", "cudaFreeHost", p, 0, 0, 0, 0, 0, 0);
    ASK("width above the pitch", "cudaMemset2D", p, 64, 1, 65, 2, 0, 0);
    ASK("width above the pitch", "cudaMemcpy2D", p, 64, other, 64, 65, 1, 1);
    ASK("width above the other pitch", "cudaMemcpy2D", p, 64, other, 32, 64, 1, 1);
    ASK("wrong kind", "cudaMemcpy", p, other, 16, 9, 0, 0, 0);
    ASK("past the end", "cudaMemcpy", other, (char *)p + (1 << 20) - 8, 16, 2, 0, 0, 0);
    ASK("to no pointer", "cudaMemcpy", 0, other, 16, 1, 0, 0, 0);
    ASK("pinned", "cudaMallocHost", &pinned, 64, 0, 0, 0, 0, 0);
    ASK("pinned", "cudaHostGetFlags", &flags, pinned, 0, 0, 0, 0, 0);
    printf("flags %u\n", flags);
    ASK("wrong flags", "cudaHostAlloc", &q, 64, 99, 0, 0, 0, 0);
    ASK("no kernel", "cudaFuncSetAttribute", other, 8, 1, 0, 0, 0, 0);
    ASK("no kernel", "cudaFuncGetAttributes", other, other, 0, 0, 0, 0, 0);
    ASK("the same device", "cudaDeviceEnablePeerAccess", 0, 0, 0, 0, 0, 0, 0);
    ASK("no such device", "cudaDeviceEnablePeerAccess", 1, 0, 0, 0, 0, 0, 0);
    for (int limit = 0; limit < 9; limit++) {
        if (limit == 6) continue; /* persistence in L2, which is not simulated */
        n = 0;
        char what[20];
        sprintf(what, "limit %d", limit);
        if (ASK(what, "cudaDeviceGetLimit", &n, limit, 0, 0, 0, 0, 0) == 0) printf("%zu\n", n);
    }
    ASK("limit 77", "cudaDeviceSetLimit", 77, 1, 0, 0, 0, 0, 0);
    ASK("preference 9", "cudaDeviceSetCacheConfig", 9, 0, 0, 0, 0, 0, 0);
    ASK("preference 2", "cudaDeviceSetCacheConfig", 2, 0, 0, 0, 0, 0, 0);
    ASK("set before", "cudaDeviceGetCacheConfig", &flags, 0, 0, 0, 0, 0, 0);
    printf("preference %u\n", flags);
    ASK("wrong flags", "cudaSetDeviceFlags", 0x1000, 0, 0, 0, 0, 0, 0);
    ASK("no such device", "cudaSetDevice", 99, 0, 0, 0, 0, 0, 0);
    ASK("after an error", "cudaGetLastError", 0, 0, 0, 0, 0, 0, 0);
    void *stream = 0, *event = 0;
    ASK("a stream", "cudaStreamCreate", &stream, 0, 0, 0, 0, 0, 0);
    ASK("an event", "cudaEventCreate", &event, 0, 0, 0, 0, 0, 0);
    store(p);
    ASK("before the fault", "cudaDeviceSynchronize", 0, 0, 0, 0, 0, 0, 0);
    store((void *)16);
    ASK("after a fault", "cudaDeviceSynchronize", 0, 0, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaPeekAtLastError", 0, 0, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaGetLastError", 0, 0, 0, 0, 0, 0, 0);
    ASK("again", "cudaGetLastError", 0, 0, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaMalloc", &q, 16, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaFree", p, 0, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaStreamDestroy", stream, 0, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaEventQuery", event, 0, 0, 0, 0, 0, 0);
    ASK("after a fault", "cudaGetDeviceCount", &flags, 0, 0, 0, 0, 0, 0);
    return 0;
}
