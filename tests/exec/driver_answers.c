/* Asks the driver what programs ask by mistake, and prints what it answers: calls before there is a
 * context, images that are none, sizes of 0, attributes that do not exist, launches beyond limits.
 *
 *   cc -o driver_answers driver_answers.c -ldl && simt-sim exec -- ./driver_answers
 *
 * driver_answers.txt is what an H200's driver printed (580.159.04, CUDA 13.0, 2026-11-30). */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

static void *lib;
static char other[4096];

static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".global .align 4 .b8 var[64];\n.const .align 4 .b8 fix[32];\n"
    ".visible .entry store(.param .u64 p)\n{\n.reg .b64 %a;\n"
    "ld.param.u64 %a, [p];\nst.global.u32 [%a], 7;\nret;\n}\n"
    ".visible .entry bounded(.param .u64 p, .param .u32 q)\n.maxntid 64,1,1\n{\nret;\n}\n";
static const char HEAP[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b64 found) malloc (.param .b64 bytes);\n"
    ".visible .entry nothing()\n{\nret;\n}\n"
    ".visible .entry allocate()\n{\n.param .b64 bytes, found;\n"
    "st.param.b64 [bytes], 64;\ncall.uni (found), malloc, (bytes);\nret;\n}\n";
static const char BAD[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry x() { foo.bar; ret; }\n";

static unsigned ask(const char *what, const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f,
                    u64 g, u64 h, u64 i, u64 j, u64 k) {
    Function function = (Function)dlsym(lib, name);
    unsigned answer = function ? function(a, b, c, d, e, f, g, h, i, j, k, 0) : 9999;
    printf("%s, %s: %u\n", name, what, answer);
    fflush(stdout);
    return answer;
}
#define ALL(what, name, a, b, c, d, e, f, g, h, i, j, k, ...) \
    ask(what, name, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f), (u64)(g), \
        (u64)(h), (u64)(i), (u64)(j), (u64)(k))
#define ASK(what, name, ...) ALL(what, name, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

int main(void) {
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) return puts(dlerror()), 1;
    void *ctx = 0, *ctx2 = 0, *mod = 0, *m2 = 0, *fn = 0, *bf = 0, *st = 0, *ev = 0, *ev2 = 0;
    void *p = 0, *q = 0;
    int x = 0, y = 0;
    size_t n = 0, m = 0;
    float ms = 0;
    unsigned u = 0;
    ASK("before init", "cuDeviceGetCount", &x);
    ASK("before init", "cuCtxGetCurrent", &ctx);
    ASK("before init", "cuMemAlloc_v2", &p, 16);
    ASK("flags 1", "cuInit", 1);
    ASK("0", "cuInit", 0);
    ASK("ok", "cuDeviceGetCount", &x);
    printf("%d\n", x);
    ASK("null", "cuDeviceGetCount", 0);
    ASK("ok", "cuDeviceGet", &x, 0);
    ASK("9", "cuDeviceGet", &x, 9);
    ASK("-1", "cuDeviceGet", &x, -1);
    ASK("no context", "cuMemAlloc_v2", &p, 16);
    ASK("no context", "cuCtxSynchronize", 0);
    ASK("no context", "cuModuleLoadData", &mod, PTX);
    ASK("no context", "cuCtxGetDevice", &x);
    ASK("no context", "cuStreamCreate", &st, 0);
    ASK("no context", "cuEventCreate", &ev, 0);
    ASK("no context", "cuCtxPopCurrent_v2", &ctx);
    ASK("null", "cuCtxPushCurrent_v2", 0);
    ASK("no context", "cuCtxGetCurrent", &ctx);
    printf("%d\n", ctx == 0);
    ASK("name", "cuDeviceGetName", other, 100, 0);
    ASK("short", "cuDeviceGetName", other, 3, 0);
    printf("%s\n", strlen(other) < 4 ? "short" : "long");
    ASK("attr", "cuDeviceGetAttribute", &x, 10, 0);
    printf("%d\n", x);
    ASK("attr 0", "cuDeviceGetAttribute", &x, 0, 0);
    ASK("attr 9999", "cuDeviceGetAttribute", &x, 9999, 0);
    ASK("attr dev 7", "cuDeviceGetAttribute", &x, 10, 7);
    ASK("null", "cuDeviceGetAttribute", 0, 10, 0);
    ASK("mem", "cuDeviceTotalMem_v2", &n, 0);
    ASK("mem 3", "cuDeviceTotalMem_v2", &n, 3);
    ASK("state", "cuDevicePrimaryCtxGetState", 0, &u, &x);
    printf("%d\n", x);
    ASK("release early", "cuDevicePrimaryCtxRelease_v2", 0);
    ASK("reset early", "cuDevicePrimaryCtxReset_v2", 0);
    ASK("flags", "cuDevicePrimaryCtxSetFlags_v2", 0, 0x100);
    ASK("flags", "cuDevicePrimaryCtxSetFlags_v2", 0, 4);
    ASK("retain", "cuDevicePrimaryCtxRetain", &ctx, 0);
    ASK("retain 5", "cuDevicePrimaryCtxRetain", &ctx2, 5);
    ASK("set", "cuCtxSetCurrent", ctx);
    ASK("bad", "cuCtxSetCurrent", 0x10 * 0 + (u64)0);
    ASK("set", "cuCtxSetCurrent", ctx);
    ASK("dev", "cuCtxGetDevice", &x);
    ASK("destroy primary", "cuCtxDestroy_v2", ctx);
    ASK("flags", "cuCtxGetFlags", &u);
    printf("%u\n", u);
    ASK("api", "cuCtxGetApiVersion", ctx, &u);
    printf("%u\n", u);
    ASK("api 0", "cuCtxGetApiVersion", 0, &u);
    ASK("prio", "cuCtxGetStreamPriorityRange", &x, &y);
    printf("%d %d\n", x, y);
    for (int l = 0; l < 10; l++) {
        if (l == 6) continue;
        char w[20];
        sprintf(w, "limit %d", l);
        n = 0;
        if (!ASK(w, "cuCtxGetLimit", &n, l)) printf("%zu\n", n);
    }
    ASK("77", "cuCtxGetLimit", &n, 77);
    ASK("77", "cuCtxSetLimit", 77, 1);
    ASK("stack 4096", "cuCtxSetLimit", 0, 4096);
    ASK("stack", "cuCtxGetLimit", &n, 0);
    printf("%zu\n", n);
    ASK("stack 5001", "cuCtxSetLimit", 0, 5001);
    ASK("stack", "cuCtxGetLimit", &n, 0);
    printf("%zu\n", n);
    ASK("stack 1 MB", "cuCtxSetLimit", 0, 1 << 20);
    ASK("fifo", "cuCtxSetLimit", 1, 5000);
    ASK("fifo", "cuCtxGetLimit", &n, 1);
    printf("%zu\n", n);
    ASK("heap", "cuCtxSetLimit", 2, 1000);
    ASK("heap", "cuCtxGetLimit", &n, 2);
    printf("%zu\n", n);
    ASK("l2", "cuCtxSetLimit", 5, 32);
    ASK("l2", "cuCtxGetLimit", &n, 5);
    printf("%zu\n", n);
    ASK("l2 200", "cuCtxSetLimit", 5, 200);
    ASK("l2", "cuCtxGetLimit", &n, 5);
    printf("%zu\n", n);
    ASK("9", "cuCtxSetCacheConfig", 9);
    ASK("2", "cuCtxSetCacheConfig", 2);
    ASK("", "cuCtxGetCacheConfig", &u);
    printf("%u\n", u);
    ASK("0", "cuCtxSetCacheConfig", 0);
    ASK("", "cuCtxGetSharedMemConfig", &u);
    printf("%u\n", u);
    ASK("9", "cuCtxSetSharedMemConfig", 9);
    ASK("2", "cuCtxSetSharedMemConfig", 2);
    ASK("", "cuCtxGetSharedMemConfig", &u);
    printf("%u\n", u);
    ASK("ok", "cuModuleLoadData", &mod, PTX);
    ASK("bad ptx", "cuModuleLoadData", &m2, BAD);
    ASK("garbage", "cuModuleLoadData", &m2, "hello");
    ASK("empty", "cuModuleLoadData", &m2, "");
    ASK("null", "cuModuleLoadData", &m2, 0);
    ASK("no file", "cuModuleLoad", &m2, "/nonexistent");
    ASK("fat", "cuModuleLoadFatBinary", &m2, "hello");
    ASK("fn", "cuModuleGetFunction", &fn, mod, "store");
    ASK("no fn", "cuModuleGetFunction", &q, mod, "nothing");
    ASK("empty fn", "cuModuleGetFunction", &q, mod, "");
    ASK("null fn", "cuModuleGetFunction", &q, mod, 0);
    ASK("null mod", "cuModuleGetFunction", &q, 0, "store");
    ASK("bounded", "cuModuleGetFunction", &bf, mod, "bounded");
    ASK("var", "cuModuleGetGlobal_v2", &p, &n, mod, "var");
    printf("%zu\n", n);
    ASK("const", "cuModuleGetGlobal_v2", &p, &n, mod, "fix");
    printf("%zu\n", n);
    ASK("no var", "cuModuleGetGlobal_v2", &p, &n, mod, "no");
    ASK("null both", "cuModuleGetGlobal_v2", 0, 0, mod, "var");
    ASK("null size", "cuModuleGetGlobal_v2", &p, 0, mod, "var");
    ASK("unload 0", "cuModuleUnload", 0);
    ASK("count", "cuModuleGetFunctionCount", &u, mod);
    printf("%u\n", u);
    ASK("param", "cuFuncGetParamInfo", bf, 1, &n, &m);
    printf("%zu %zu\n", n, m);
    ASK("param 2", "cuFuncGetParamInfo", bf, 2, &n, &m);
    for (int a = 0; a < 18; a++) {
        char w[20];
        sprintf(w, "attribute %d", a);
        x = -7;
        if (!ASK(w, "cuFuncGetAttribute", &x, a, bf) && (a < 4 || a > 6)) printf("%d\n", x);
    }
    ASK("99", "cuFuncGetAttribute", &x, 99, fn);
    ASK("null", "cuFuncGetAttribute", 0, 0, fn);
    for (int a = 0; a < 8; a++) {
        char w[20];
        sprintf(w, "attribute %d", a);
        ASK(w, "cuFuncSetAttribute", bf, a, 1);
    }
    ASK("8 too much", "cuFuncSetAttribute", fn, 8, 300000);
    ASK("9 101", "cuFuncSetAttribute", fn, 9, 101);
    ASK("9 -1", "cuFuncSetAttribute", fn, 9, -1);
    ASK("cache 9", "cuFuncSetCacheConfig", fn, 9);
    ASK("cache 3", "cuFuncSetCacheConfig", fn, 3);
    ASK("shared 9", "cuFuncSetSharedMemConfig", fn, 9);
    ASK("0 bytes", "cuMemAlloc_v2", &p, 0);
    ASK("null", "cuMemAlloc_v2", 0, 16);
    ASK("1 MB", "cuMemAlloc_v2", &p, 1 << 20);
    ASK("huge", "cuMemAlloc_v2", &q, 1ull << 60);
    ASK("middle", "cuMemFree_v2", (char *)p + 8);
    ASK("null", "cuMemFree_v2", 0);
    ASK("wild", "cuMemFree_v2", 0x1234);
    ASK("pitch", "cuMemAllocPitch_v2", &q, &n, 100, 10, 4);
    printf("%zu\n", n);
    ASK("elem 3", "cuMemAllocPitch_v2", &q, &n, 100, 10, 3);
    ASK("elem 0", "cuMemAllocPitch_v2", &q, &n, 100, 10, 0);
    ASK("w 0", "cuMemAllocPitch_v2", &q, &n, 0, 10, 4);
    ASK("managed 0", "cuMemAllocManaged", &q, 0, 1);
    ASK("managed flag 0", "cuMemAllocManaged", &q, 16, 0);
    ASK("managed", "cuMemAllocManaged", &q, 64, 1);
    ASK("host 0", "cuMemAllocHost_v2", &q, 0);
    ASK("hostalloc 0", "cuMemHostAlloc", &q, 0, 0);
    ASK("hostalloc 9", "cuMemHostAlloc", &q, 16, 9);
    ASK("hostalloc", "cuMemHostAlloc", &q, 64, 1);
    ASK("flags", "cuMemHostGetFlags", &u, q);
    printf("%u\n", u);
    ASK("flags wild", "cuMemHostGetFlags", &u, other);
    ASK("free wild", "cuMemFreeHost", other);
    ASK("free", "cuMemFreeHost", q);
    ASK("free again", "cuMemFreeHost", q);
    ASK("null", "cuMemFreeHost", 0);
    ASK("range", "cuMemGetAddressRange_v2", &q, &n, (char *)p + 100);
    printf("%d %zu\n", q == p, n);
    ASK("range wild", "cuMemGetAddressRange_v2", &q, &n, 0x1234);
    ASK("range null out", "cuMemGetAddressRange_v2", 0, 0, p);
    for (int a = 0; a < 15; a++) {
        if (a == 5) continue;
        char w[20];
        sprintf(w, "attribute %d", a);
        memset(other, 0, 64);
        unsigned r = ASK(w, "cuPointerGetAttribute", other, a, p);
        int plain = a == 2 || a == 6 || a == 8 || a == 9 || a >= 12;
        if (!r && plain) printf("%llu\n", (unsigned long long)*(u64 *)other);
    }
    ASK("wild", "cuPointerGetAttribute", other, 2, other);
    ASK("99", "cuPointerGetAttribute", other, 99, p);
    ASK("htod", "cuMemcpyHtoD_v2", p, other, 64);
    ASK("htod null", "cuMemcpyHtoD_v2", 0, other, 16);
    ASK("htod 0", "cuMemcpyHtoD_v2", 0, other, 0);
    ASK("htod host null", "cuMemcpyHtoD_v2", p, 0, 16);
    ASK("htod far", "cuMemcpyHtoD_v2", (char *)p + (1 << 20) - 8, other, 16);
    ASK("dtod", "cuMemcpyDtoD_v2", p, (char *)p + 8, 64);
    ASK("copy", "cuMemcpy", p, other, 16);
    ASK("set8", "cuMemsetD8_v2", p, 1, 16);
    ASK("set16 odd", "cuMemsetD16_v2", (char *)p + 1, 1, 4);
    ASK("set32 odd", "cuMemsetD32_v2", (char *)p + 2, 1, 4);
    ASK("set32 far", "cuMemsetD32_v2", p, 1, 1 << 20);
    ASK("set32 0", "cuMemsetD32_v2", 0, 1, 0);
    ASK("set2d", "cuMemsetD2D8_v2", p, 16, 1, 17, 2);
    ASK("set2d 1 row", "cuMemsetD2D8_v2", p, 16, 1, 17, 1);
    ASK("set2d 32", "cuMemsetD2D32_v2", p, 18, 1, 4, 2);
    void *args[] = {&p, &p};
    ASK("ok", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 1, 0, 0, args, 0);
    ASK("grid 0", "cuLaunchKernel", fn, 0, 1, 1, 1, 1, 1, 0, 0, args, 0);
    ASK("block 0", "cuLaunchKernel", fn, 1, 1, 1, 0, 1, 1, 0, 0, args, 0);
    ASK("block 1025", "cuLaunchKernel", fn, 1, 1, 1, 1025, 1, 1, 0, 0, args, 0);
    ASK("block z", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 65, 0, 0, args, 0);
    ASK("grid y", "cuLaunchKernel", fn, 1, 65536, 1, 1, 1, 1, 0, 0, args, 0);
    ASK("shared 48K+1", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 1, 49153, 0, args, 0);
    ASK("bounded 65", "cuLaunchKernel", bf, 1, 1, 1, 65, 1, 1, 0, 0, args, 0);
    ASK("no args", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
    ASK("null fn", "cuLaunchKernel", 0, 1, 1, 1, 1, 1, 1, 0, 0, args, 0);
    void *extra[] = {(void *)1, &p, (void *)2, &n, 0};
    n = 8;
    ASK("extra", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 1, 0, 0, 0, extra);
    ASK("both", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 1, 0, 0, args, extra);
    ASK("coop", "cuLaunchCooperativeKernel", fn, 1, 1, 1, 1, 1, 1, 0, 0, args);
    ASK("coop many", "cuLaunchCooperativeKernel", fn, 100000, 1, 1, 1024, 1, 1, 0, 0, args);
    ASK("sync", "cuCtxSynchronize", 0);
    ASK("occ", "cuOccupancyMaxActiveBlocksPerMultiprocessor", &x, fn, 128, 0);
    printf("%d\n", x);
    ASK("occ 0", "cuOccupancyMaxActiveBlocksPerMultiprocessor", &x, fn, 0, 0);
    ASK("occ -1", "cuOccupancyMaxActiveBlocksPerMultiprocessor", &x, fn, -1, 0);
    ASK("occ 2000", "cuOccupancyMaxActiveBlocksPerMultiprocessor", &x, fn, 2000, 0);
    printf("%d\n", x);
    ASK("occ bounded 65", "cuOccupancyMaxActiveBlocksPerMultiprocessor", &x, bf, 65, 0);
    printf("%d\n", x);
    ASK("potential", "cuOccupancyMaxPotentialBlockSize", &x, &y, fn, 0, 0, 0);
    printf("%d %d\n", x, y);
    ASK("potential limit", "cuOccupancyMaxPotentialBlockSize", &x, &y, fn, 0, 0, 100);
    printf("%d %d\n", x, y);
    ASK("avail", "cuOccupancyAvailableDynamicSMemPerBlock", &n, bf, 2, 64);
    printf("%zu\n", n);
    ASK("avail 0", "cuOccupancyAvailableDynamicSMemPerBlock", &n, bf, 0, 64);
    ASK("avail many", "cuOccupancyAvailableDynamicSMemPerBlock", &n, bf, 4, 64);
    printf("%zu\n", n);
    ASK("stream", "cuStreamCreate", &st, 0);
    ASK("stream 7", "cuStreamCreate", &q, 7);
    ASK("stream null", "cuStreamCreate", 0, 0);
    ASK("prio", "cuStreamCreateWithPriority", &q, 1, -99);
    ASK("getprio", "cuStreamGetPriority", q, &x);
    printf("%d\n", x);
    ASK("flags", "cuStreamGetFlags", q, &u);
    printf("%u\n", u);
    ASK("ctx", "cuStreamGetCtx", st, &ctx2);
    printf("%d\n", ctx2 == ctx);
    ASK("query", "cuStreamQuery", st);
    ASK("wait null", "cuStreamWaitEvent", st, 0, 0);
    ASK("destroy", "cuStreamDestroy_v2", q);
    ASK("destroy 0", "cuStreamDestroy_v2", 0);
    ASK("event", "cuEventCreate", &ev, 0);
    ASK("event 99", "cuEventCreate", &ev2, 99);
    ASK("event notime", "cuEventCreate", &ev2, 2);
    ASK("elapsed", "cuEventElapsedTime", &ms, ev, ev);
    ASK("query", "cuEventQuery", ev);
    ASK("record", "cuEventRecord", ev, 0);
    ASK("sync", "cuEventSynchronize", ev);
    ASK("elapsed", "cuEventElapsedTime", &ms, ev, ev);
    printf("%g\n", ms);
    ASK("elapsed notime", "cuEventElapsedTime", &ms, ev, ev2);
    ASK("flags", "cuEventRecordWithFlags", ev, 0, 9);
    struct { char bytes[64]; } handle = {{0}};
    ASK("handle of a plain one", "cuIpcGetEventHandle", &handle, ev);
    ASK("handle without a time", "cuIpcGetEventHandle", &handle, ev2);
    ASK("of processes, with a time", "cuEventCreate", &q, 4);
    ASK("of processes", "cuEventCreate", &q, 6);
    ASK("of processes", "cuIpcGetEventHandle", &handle, q);
    ASK("handle to null", "cuIpcGetEventHandle", 0, q);
    ASK("handle of null", "cuIpcGetEventHandle", &handle, 0);
    ASK("of processes", "cuEventQuery", q);
    ASK("of processes", "cuEventRecord", q, 0);
    ASK("of processes", "cuEventSynchronize", q);
    ASK("of processes", "cuEventElapsedTime", &ms, ev, q);
    ASK("of processes", "cuEventDestroy_v2", q);
    ASK("destroy", "cuEventDestroy_v2", ev2);
    ASK("destroy 0", "cuEventDestroy_v2", 0);
    ASK("peer", "cuDeviceCanAccessPeer", &x, 0, 0);
    printf("%d\n", x);
    ASK("peer 1", "cuDeviceCanAccessPeer", &x, 0, 1);
    ASK("enable self", "cuCtxEnablePeerAccess", ctx, 0);
    ASK("enable flag", "cuCtxEnablePeerAccess", ctx, 1);
    ASK("disable", "cuCtxDisablePeerAccess", ctx);
    ASK("err", "cuGetErrorName", 1, &p);
    ASK("err 9999", "cuGetErrorName", 9999, &q);
    printf("%d\n", q == 0);
    ASK("ver", "cuDriverGetVersion", 0);
    ASK("proc", "cuGetProcAddress_v2", "cuInit", &q, 12000, 0, &u);
    printf("%u\n", u);
    ASK("proc none", "cuGetProcAddress_v2", "cuNothing", &q, 12000, 0, &u);
    printf("%u\n", u);
    ASK("proc early", "cuGetProcAddress_v2", "cuLaunchKernelEx", &q, 11000, 0, &u);
    printf("%u\n", u);
    ASK("proc flag", "cuGetProcAddress_v2", "cuInit", &q, 12000, 99, &u);
    ASK("heap", "cuModuleLoadData", &m2, HEAP);
    for (int i = 0; i < 2; i++) {
        ASK("heap", "cuModuleGetFunction", &fn, m2, i ? "allocate" : "nothing");
        ASK("heap", "cuLaunchKernel", fn, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
        ASK("heap", "cuCtxSynchronize", 0);
        ASK("heap", "cuCtxSetLimit", 2, (16 + 16 * i) << 20);
        ASK("heap", "cuCtxGetLimit", &n, 2);
        printf("%zu\n", n);
    }
    ASK("unload", "cuModuleUnload", mod);
    ASK("ctx", "cuCtxCreate_v2", &ctx2, 0, 0);
    ASK("cur", "cuCtxGetCurrent", &q);
    printf("%d\n", q == ctx2);
    ASK("create flags", "cuCtxCreate_v2", &q, 0x1000, 0);
    ASK("pop", "cuCtxPopCurrent_v2", &q);
    printf("%d\n", q == ctx2);
    ASK("cur", "cuCtxGetCurrent", &q);
    printf("%d\n", q == ctx);
    ASK("destroy", "cuCtxDestroy_v2", ctx2);
    ASK("release", "cuDevicePrimaryCtxRelease_v2", 0);
    ASK("release", "cuDevicePrimaryCtxRelease_v2", 0);
    ASK("after", "cuMemAlloc_v2", &q, 16);
    ASK("after", "cuCtxGetCurrent", &q);
    printf("%d\n", q == ctx);
    return 0;
}
