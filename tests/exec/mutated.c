/* Calls the CUDA runtime with null and wild handles, addresses and sizes, in any order, from two
 * threads. Each call must return, with an error that has a name. Prints the calls by result.
 *
 *   cc -o mutated mutated.c -lpthread -ldl && simt-sim exec --max-cycles 200000 -- ./mutated */
#define _GNU_SOURCE
#include "fatbin.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

enum { CALLS = 6000, SCRATCH = 1 << 16, MOST = 4096 };

/* Arguments: `o` place for a result, `h` handle, `a` address of the device or of the process, `p`
 * memory of the process, `w` wild address of it, `s` size, `n` number, `f` kernel, `v` variable, `g`
 * extents of a launch in two registers, `k` list of parameters, `z` 0. */
static const char *const CALLED[][2] = {
    {"cudaGetDeviceCount", "o"}, {"cudaSetDevice", "n"}, {"cudaGetDevice", "o"},
    {"cudaGetDeviceProperties", "on"}, {"cudaDeviceGetAttribute", "onn"},
    {"cudaDeviceSynchronize", ""}, {"cudaDeviceGetLimit", "on"}, {"cudaDeviceSetLimit", "ns"},
    {"cudaDeviceCanAccessPeer", "onn"}, {"cudaDeviceReset", ""}, {"cudaMemGetInfo", "oo"},
    {"cudaMalloc", "os"}, {"cudaMalloc", "os"}, {"cudaMallocPitch", "ooss"},
    {"cudaMallocManaged", "osn"}, {"cudaMallocHost", "os"}, {"cudaHostAlloc", "osn"},
    {"cudaFree", "a"}, {"cudaFreeHost", "a"}, {"cudaHostRegister", "wsn"},
    {"cudaHostUnregister", "a"}, {"cudaHostGetDevicePointer", "oan"}, {"cudaHostGetFlags", "oa"},
    {"cudaMallocAsync", "osh"}, {"cudaFreeAsync", "ah"}, {"cudaPointerGetAttributes", "oa"},
    {"cudaMemcpy", "aasn"}, {"cudaMemcpy", "apsn"}, {"cudaMemcpy", "pasn"},
    {"cudaMemcpyAsync", "aasnh"}, {"cudaMemcpy2D", "asasssn"}, {"cudaMemset", "ans"},
    {"cudaMemset2D", "asnss"}, {"cudaMemsetAsync", "ansh"}, {"cudaMemcpyToSymbol", "vpssn"},
    {"cudaMemcpyFromSymbol", "pvssn"}, {"cudaGetSymbolAddress", "ov"},
    {"cudaGetSymbolSize", "ov"}, {"cudaStreamCreate", "o"}, {"cudaStreamCreateWithFlags", "on"},
    {"cudaStreamDestroy", "h"}, {"cudaStreamSynchronize", "h"}, {"cudaStreamQuery", "h"},
    {"cudaStreamWaitEvent", "hhn"}, {"cudaStreamGetPriority", "ho"}, {"cudaEventCreate", "o"},
    {"cudaEventCreateWithFlags", "on"}, {"cudaEventRecord", "hh"}, {"cudaEventQuery", "h"},
    {"cudaEventSynchronize", "h"}, {"cudaEventElapsedTime", "ohh"}, {"cudaEventDestroy", "h"},
    {"cudaLaunchKernel", "fggkph"}, {"cudaLaunchKernel", "fggknh"},
    {"cudaLaunchCooperativeKernel", "fggknh"}, {"cudaFuncGetAttributes", "of"},
    {"cudaFuncSetAttribute", "fnn"}, {"cudaFuncSetCacheConfig", "fn"},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", "ofns"}, {"cudaGetLastError", ""},
    {"cudaPeekAtLastError", ""}, {"cudaDriverGetVersion", "o"}, {"cudaRuntimeGetVersion", "o"},
    {"cudaDeviceGetDefaultMemPool", "on"}, {"cudaGraphCreate", "oz"}, {"cudaGraphDestroy", "h"},
    {"cudaGraphClone", "oh"}, {"cudaGraphGetNodes", "hoo"}, {"cudaGraphAddEmptyNode", "ohon"},
    {"cudaGraphAddKernelNode", "ohzzk"}, {"cudaGraphAddMemcpyNode1D", "ohzzaasn"},
    {"cudaGraphAddMemcpyNodeToSymbol", "ohzzvpssn"}, {"cudaGraphAddMemsetNode", "ohzzk"},
    {"cudaGraphAddHostNode", "ohzzo"}, {"cudaGraphAddChildGraphNode", "ohzzh"},
    {"cudaGraphAddNode", "ohzzzk"}, {"cudaGraphMemcpyNodeGetParams", "ho"},
    {"cudaGraphKernelNodeGetParams", "ho"}, {"cudaGraphNodeGetType", "ho"},
    {"cudaGraphInstantiate", "oh"}, {"cudaGraphExecUpdate", "hho"}, {"cudaGraphLaunch", "hh"},
    {"cudaGraphExecDestroy", "h"}, {"cudaStreamBeginCapture", "hn"}, {"cudaStreamEndCapture", "ho"},
    {"cudaStreamIsCapturing", "ho"}, {"cudaStreamGetCaptureInfo", "hoooooo"},
};
enum { NAMES = sizeof CALLED / sizeof *CALLED };

static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .b8 v[64];\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n"
    ".reg .pred %p<2>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
    "setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\nmul.wide.u32 %rd2, %r2, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r3, [%rd3];\nadd.u32 %r3, %r3, 1;\n"
    "st.global.u32 [%rd3], %r3;\nret;\n}\n";

static void *library;
static char stub, variable[64];

/* Registers the kernel and the variable of `PTX` as a program of nvcc does. */
static void enter(void) {
    void **module = register_ptx(library, PTX, sizeof PTX);
    ((void (*)())dlsym(library, "__cudaRegisterFunction"))(module, &stub, "add", "add", -1, 0L, 0L,
                                                           0L, 0L, 0L);
    ((void (*)())dlsym(library, "__cudaRegisterVar"))(module, variable, "v", "v", 0, 64L, 0, 0);
    ((void (*)())dlsym(library, "__cudaRegisterFatBinaryEnd"))(module);
}

static u64 next(u64 *seed) {
    *seed ^= *seed >> 12, *seed ^= *seed << 25, *seed ^= *seed >> 27;
    return *seed * 0x2545f4914f6cdd1dull;
}
static u64 below(u64 *seed, u64 n) { return next(seed) % n; }

static int is_host(u64 address) {
    return address && !(address >= 0x010000000000 && address < 0x100000000000);
}

/* Makes the calls of one thread; returns how many succeeded and failed. */
static void *calls(void *data) {
    u64 seed = *(u64 *)data, known[2 * CALLS] = {0, 1, 2}, addresses[2 * CALLS] = {0, 64};
    int handles = 3, places = 2;
    long ended[2] = {0, 0};
    unsigned char *scratch = calloc(2, SCRATCH); /* parts of it stay registered */
    static const u64 wild[] = {3, 0xdeadbeef, 0x100000000010, 0x200000000100, ~0ull, 1ull << 63};
    static const u64 never[] = {0, 8, 0x070000000000, 0x010000000000, ~7ull};
    static const u64 sizes[] = {0, 1, 3, 4, 64, 256, 1000, MOST, 1ull << 40, ~0ull, ~0ull / 2};
    const char *(*name_of)(unsigned) = (const char *(*)(unsigned))dlsym(library, "cudaGetErrorName");
    for (int i = 0; i < CALLS; i++) {
        const char *const *called = CALLED[below(&seed, NAMES)];
        u64 a[16] = {0}, slots[16];
        int count = 0, results = 0, has_host = 0;
        for (const char *kind = called[1]; *kind; kind++, count++) {
            u64 place = (u64)scratch + MOST * (u64)(kind - called[1]), chance = below(&seed, 8);
            switch (*kind) {
            case 'o': case 'k':
                a[count] = chance ? place : 0;
                if (chance && *kind == 'o') slots[results++] = place, *(u64 *)place = 0;
                for (int j = 0; chance && *kind == 'k' && j < 8; j++) {
                    u64 *value = (u64 *)place + 8 + j;
                    *value = j % 2 ? below(&seed, 64) : addresses[below(&seed, places)];
                    ((u64 *)place)[j] = below(&seed, 9) ? (u64)value : never[below(&seed, 5)];
                }
                break;
            case 'h': a[count] = chance ? known[below(&seed, handles)] : wild[below(&seed, 6)]; break;
            case 'a':
                a[count] = chance ? addresses[below(&seed, places)] : wild[below(&seed, 6)];
                if (chance == 1) a[count] += below(&seed, 8192);
                break;
            case 'p': a[count] = place; has_host = 1; break;
            case 'w': a[count] = chance < 4 ? next(&seed) >> 16 : place + below(&seed, 64); break;
            case 's': a[count] = chance ? sizes[below(&seed, 11)] : next(&seed); break;
            case 'f': a[count] = chance ? (u64)&stub : wild[below(&seed, 6)]; break;
            case 'v': a[count] = chance ? (u64)variable : wild[below(&seed, 6)]; break;
            case 'z': a[count] = 0; break;
            case 'g':
                a[count++] = below(&seed, 40) | below(&seed, 3) << 32;
                a[count] = chance ? 1 : next(&seed);
                break;
            default: a[count] = chance ? below(&seed, 40) : next(&seed);
            }
        }
        /* A copy from or to memory of the process has its size by the caller's promise. */
        int copies = strstr(called[0], "Memcpy") || strstr(called[0], "Memset");
        for (int j = 0; copies && called[1][j]; j++)
            if (called[1][j] == 'a' && is_host(a[j])) a[j] = (u64)scratch + MOST * j, has_host = 1;
        for (int j = 0; has_host && called[1][j]; j++)
            if (called[1][j] == 's' && !strstr(called[0], "2D")) a[j] %= MOST;
            else if (called[1][j] == 's') a[j] %= 64;
        Function function = (Function)dlsym(library, called[0]);
        if (!function) return printf("lacks %s\n", called[0]), exit(1), NULL;
        unsigned code = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                 a[11]);
        ended[code != 0]++;
        if (code && (!name_of(code) || !strncmp(name_of(code), "unrec", 5)))
            return printf("%s returned %u\n", called[0], code), exit(1), NULL;
        for (int j = 0; !code && j < results; j++) {
            u64 value = *(u64 *)slots[j];
            if (strstr(called[0], "lloc") || strstr(called[0], "Address")) addresses[places++] = value;
            else if (value > 1ull << 36) known[handles++] = value;
        }
    }
    printf("%ld calls succeeded, %ld failed\n", ended[0], ended[1]);
    return NULL;
}

int main(void) {
    library = dlopen("libcudart.so.13", RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    enter();
    pthread_t threads[2];
    u64 seeds[2] = {0x9e3779b9, 0x7f4a7c15};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, calls, &seeds[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    /* The driver still works. */
    Function reset = (Function)dlsym(library, "cudaDeviceReset");
    Function allocate = (Function)dlsym(library, "cudaMalloc");
    u64 place = 0;
    reset(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    unsigned code = allocate((u64)&place, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    printf("then %u\n", code);
    return code != 0;
}
