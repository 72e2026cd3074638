/* A driver that computes nothing: it writes its calls on standard output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

static __thread long context;
static int fault;
static char variable[16];
static char managed[4];

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGetName(char *name, int length, int device) { strcpy(name, "fake"); return 0; }
int cuDeviceGetUuid_v2(char *uuid, int device) { memset(uuid, 9, 16); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int number, int device) {
    *value = number == 1 ? 1024 : number;
    return 0;
}
int cuDevicePrimaryCtxRetain(long *made, int device) { printf("retain\n"); *made = 1; return 0; }
int cuDevicePrimaryCtxReset_v2(int device) { printf("reset\n"); fault = 0; return 0; }
int cuCtxGetCurrent(long *current) { *current = context; return 0; }
int cuCtxSetCurrent(long current) { context = current; return 0; }
int cuCtxGetDevice(int *device) { *device = 0; return fault; }
int cuCtxSynchronize(void) { return fault; }
int cuMemAlloc_v2(Address *pointer, size_t bytes) {
    *pointer = (Address)(size_t)malloc(bytes);
    return fault;
}
int cuMemFree_v2(Address pointer) { free((void *)(size_t)pointer); return 0; }
int cuMemcpyHtoD_v2(Address to, void *from, size_t bytes) {
    printf("to the device: %zu\n", bytes);
    memcpy((void *)(size_t)to, from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    printf("to the host: %zu\n", bytes);
    memcpy(to, (void *)(size_t)from, bytes);
    return 0;
}
int cuMemcpy3D_v2(size_t *copy) {
    printf("3D: from type %d at %zu,%zu,%zu pitch %zu", (int)copy[4], copy[0], copy[1], copy[2],
           copy[9]);
    printf(" to type %d pitch %zu height %zu, %zu x %zu x %zu\n", (int)copy[15], copy[20],
           copy[21], copy[22], copy[23], copy[24]);
    return 0;
}
int cuMemsetD2D8_v2(Address to, size_t pitch, unsigned char value, size_t width, size_t height) {
    printf("set at %llu pitch %zu to %d: %zu x %zu\n", to, pitch, value, width, height);
    return 0;
}
int cuLibraryLoadData(long *library, const void *code) {
    printf("load %s\n", (const char *)code);
    *library = 77;
    return 0;
}
int cuLinkCreate_v2(unsigned count, void *names, void *values, long *link) {
    *link = 5;
    return 0;
}
int cuLinkAddData_v2(long link, int kind, char *data, size_t size, const char *name,
                     unsigned count, void *names, void *values) {
    printf("part of kind %d: %zu bytes, %s\n", kind, size, data + 16);
    return 0;
}
int cuLinkComplete(long link, void **image, size_t *size) {
    *image = "linked";
    *size = 6;
    return 0;
}
int cuLinkDestroy(long link) { return 0; }
int cuLibraryGetKernel(long *kernel, long library, const char *name) {
    if (strcmp(name, "kernel") != 0 && strcmp(name, "fault") != 0) return 500;
    *kernel = name[0] == 'f' ? 98 : 99;
    return 0;
}
int cuLibraryGetGlobal(Address *at, size_t *bytes, long library, const char *name) {
    if (strcmp(name, "variable") != 0) return 500;
    *at = (Address)(size_t)variable;
    *bytes = sizeof variable;
    return 0;
}
int cuLibraryGetManaged(Address *at, size_t *bytes, long library, const char *name) {
    if (strcmp(name, "managed") != 0) return 500;
    *at = (Address)(size_t)managed;
    *bytes = sizeof managed;
    return 0;
}
int cuKernelGetAttribute(int *value, int number, long kernel, int device) {
    *value = 100 + number;
    return 0;
}
int cuLaunchKernel(long kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, long stream, void **arguments, void *extra) {
    if (bx * by * bz > 1024) return 1;
    printf("launch %ld: %u %u %u, %u %u %u, %u bytes, stream %ld, argument %d\n", kernel, gx, gy,
           gz, bx, by, bz, shared, stream, *(int *)arguments[0]);
    if (kernel == 98) fault = 700;
    return 0;
}
int cuEventQuery(long event) { return 600; }
