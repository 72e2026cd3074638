/* Asks the driver about memory pools, and prints what it answers: attributes, what allocations and
 * frees count, trims, the current pool of a device, mistakes.
 *
 *   cc -o pool_answers pool_answers.c -ldl && simt-sim exec -- ./pool_answers
 *
 * pool_answers.txt is what an H200's driver printed (580.159.04, CUDA 13.0, 2026-12-01). */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64);

static void *lib;

static unsigned ask(const char *what, const char *name, u64 a, u64 b, u64 c, u64 d) {
    Function function = (Function)dlsym(lib, name);
    unsigned answer = function ? function(a, b, c, d) : 9999;
    printf("%s, %s: %u\n", name, what, answer);
    fflush(stdout);
    return answer;
}
#define ALL(what, name, a, b, c, d, ...) ask(what, name, (u64)(a), (u64)(b), (u64)(c), (u64)(d))
#define ASK(what, name, ...) ALL(what, name, __VA_ARGS__, 0, 0, 0, 0)

static unsigned quiet(const char *name, u64 a, u64 b, u64 c, u64 d) {
    Function function = (Function)dlsym(lib, name);
    return function ? function(a, b, c, d) : 9999;
}

/* Reserved and used bytes of a pool, now and at most. */
static void usage(const char *what, void *pool) {
    u64 found[4] = {7, 7, 7, 7};
    for (int i = 0; i < 4; i++) quiet("cuMemPoolGetAttribute", (u64)pool, 5 + i, (u64)&found[i], 0);
    printf("%s: reserved %llu, at most %llu; used %llu, at most %llu\n", what,
           (unsigned long long)found[0], (unsigned long long)found[1],
           (unsigned long long)found[2], (unsigned long long)found[3]);
}

/* `CUmemPoolProps`: of pinned memory on device 0. */
typedef struct {
    int type, handles, location, device;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} Properties;

int main(void) {
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) return puts(dlerror()), 1;
    void *context = 0, *standard = 0, *pool = 0, *other = 0, *found = 0, *stream = 0;
    void *a = 0, *b = 0, *c = 0;
    int device = 0;
    quiet("cuInit", 0, 0, 0, 0);
    quiet("cuDevicePrimaryCtxRetain", (u64)&context, 0, 0, 0);
    quiet("cuCtxSetCurrent", (u64)context, 0, 0, 0);
    quiet("cuStreamCreate", (u64)&stream, 1, 0, 0);

    ASK("ok", "cuDeviceGetDefaultMemPool", &standard, 0);
    ASK("device 9", "cuDeviceGetDefaultMemPool", &found, 9);
    ASK("null", "cuDeviceGetDefaultMemPool", 0, 0);
    ASK("ok", "cuDeviceGetMemPool", &found, 0);
    printf("the default one: %d\n", found == standard);

    for (int attribute = 0; attribute <= 12; attribute++) {
        u64 value = 0;
        unsigned answer = quiet("cuMemPoolGetAttribute", (u64)standard, attribute, (u64)&value, 0);
        printf("attribute %d: %u, %llu\n", attribute, answer, (unsigned long long)value);
    }
    for (int attribute = 0; attribute <= 12; attribute++)
        for (u64 value = 0; value < 3; value++) {
            u64 given = value * 1000, now = 99;
            unsigned set = quiet("cuMemPoolSetAttribute", (u64)standard, attribute, (u64)&given, 0);
            unsigned got = quiet("cuMemPoolGetAttribute", (u64)standard, attribute, (u64)&now, 0);
            printf("set %d to %llu: %u, then %u, %llu\n", attribute, (unsigned long long)given, set,
                   got, (unsigned long long)now);
        }
    u64 keep = 0;
    ASK("threshold 0", "cuMemPoolSetAttribute", standard, 4, &keep);

    usage("fresh", standard);
    ASK("1000", "cuMemAllocAsync", &a, 1000, stream);
    usage("1000 bytes", standard);
    ASK("1", "cuMemAllocAsync", &b, 1, stream);
    usage("1 byte more", standard);
    ASK("5 MiB", "cuMemAllocAsync", &c, 5 << 20, stream);
    usage("5 MiB more", standard);
    ASK("c", "cuMemFreeAsync", c, stream);
    usage("freed, not synchronized", standard);
    quiet("cuStreamSynchronize", (u64)stream, 0, 0, 0);
    usage("synchronized", standard);
    ASK("a", "cuMemFreeAsync", a, stream);
    ASK("b", "cuMemFreeAsync", b, stream);
    quiet("cuStreamSynchronize", (u64)stream, 0, 0, 0);
    usage("all freed", standard);
    keep = 3;
    ASK("most used to 3", "cuMemPoolSetAttribute", standard, 8, &keep);
    keep = 0;
    ASK("most used to 0", "cuMemPoolSetAttribute", standard, 8, &keep);
    ASK("most reserved to 0", "cuMemPoolSetAttribute", standard, 6, &keep);
    usage("reset", standard);

    keep = ~0ull;
    ASK("threshold", "cuMemPoolSetAttribute", standard, 4, &keep);
    ASK("40 MiB", "cuMemAllocAsync", &a, 40 << 20, stream);
    usage("40 MiB", standard);
    ASK("a", "cuMemFreeAsync", a, stream);
    quiet("cuStreamSynchronize", (u64)stream, 0, 0, 0);
    usage("kept", standard);
    ASK("to 36 MiB", "cuMemPoolTrimTo", standard, 36 << 20);
    usage("trimmed to 36 MiB", standard);
    ASK("to 1", "cuMemPoolTrimTo", standard, 1);
    usage("trimmed to 1", standard);
    ASK("to 0", "cuMemPoolTrimTo", standard, 0);
    usage("trimmed to 0", standard);
    keep = 0;
    ASK("threshold", "cuMemPoolSetAttribute", standard, 4, &keep);

    Properties properties;
    memset(&properties, 0, sizeof properties);
    properties.type = properties.location = 1;
    ASK("ok", "cuMemPoolCreate", &pool, &properties);
    ASK("null", "cuMemPoolCreate", 0, &properties);
    ASK("no properties", "cuMemPoolCreate", &found, 0);
    properties.type = 0;
    ASK("type 0", "cuMemPoolCreate", &found, &properties);
    properties.type = 1;
    properties.device = 9;
    ASK("device 9", "cuMemPoolCreate", &found, &properties);
    properties.device = 0;
    usage("own", pool);
    ASK("own", "cuMemAllocFromPoolAsync", &a, 3000, pool, stream);
    usage("own, 3000 bytes", pool);
    usage("default", standard);
    ASK("own", "cuDeviceSetMemPool", 0, pool);
    ASK("ok", "cuDeviceGetMemPool", &found, 0);
    printf("own: %d\n", found == pool);
    ASK("of the current pool", "cuMemAllocAsync", &b, 3000, stream);
    usage("own", pool);
    usage("default", standard);
    ASK("b", "cuMemFree_v2", b);
    usage("own, freed by cuMemFree", pool);
    ASK("default", "cuMemPoolDestroy", standard);
    ASK("own, current and in use", "cuMemPoolDestroy", pool);
    ASK("ok", "cuDeviceGetMemPool", &found, 0);
    printf("own: %d, default: %d\n", found == pool, found == standard);
    ASK("a", "cuMemFreeAsync", a, stream);
    quiet("cuStreamSynchronize", (u64)stream, 0, 0, 0);
    ASK("0 bytes", "cuMemAllocAsync", &a, 0, stream);
    ASK("null", "cuMemAllocAsync", 0, 16, stream);
    ASK("1 TiB", "cuMemAllocAsync", &a, 1ull << 40, stream);
    ASK("null", "cuMemFreeAsync", 0, stream);
    ASK("wild", "cuMemFreeAsync", 0x123400, stream);
    ASK("of cuMemAlloc", "cuMemAlloc_v2", &a, 100);
    ASK("of cuMemAlloc", "cuMemFreeAsync", a, stream);
    ASK("null pool", "cuMemAllocFromPoolAsync", &a, 16, 0, stream);
    ASK("null pool", "cuMemPoolDestroy", 0);
    ASK("null pool", "cuDeviceSetMemPool", 0, 0);
    ASK("null pool", "cuMemPoolTrimTo", 0, 0);
    ASK("device 9", "cuDeviceSetMemPool", 9, standard);
    for (int attribute = 115; attribute <= 115; attribute++) {
        quiet("cuDeviceGetAttribute", (u64)&device, attribute, 0, 0);
        printf("device attribute %d: %d\n", attribute, device);
    }
    return 0;
}
