/* A program or library with a runtime of its own, as nvcc links it by default. Its functions answer
 * 999, unless their calls are redirected. Definitions: CUDA, the major version of that runtime;
 * LIBRARY, to make a library whose constructor registers code as nvcc's does. The program takes the
 * path of such a library, which it loads. */
#include <dlfcn.h>
#include <stdio.h>

/* `noipa`: the compiler must not use what the bodies do. */
#define FUNCTION __attribute__((visibility("hidden"), noinline, noipa, aligned(16)))
#define BODY { __asm__ volatile(".skip 16, 0x90"); return 999; }
FUNCTION int cudaMalloc(void **pointer, size_t bytes) BODY
FUNCTION int cudaFree(void *pointer) BODY
FUNCTION int cudaRuntimeGetVersion(int *version) BODY
FUNCTION int cudaLaunchKernel(void) BODY
FUNCTION int cudaGetDeviceCount(int *count) BODY
/* The smallest function that has room for a jump only because the next one is aligned. */
FUNCTION int cudaGetLastError(void) { return 999; }
FUNCTION const char *cudaGetErrorString(int error) {
    __asm__ volatile(".skip 16, 0x90");
    return "none";
}
FUNCTION void **__cudaRegisterFatBinary(void *wrapper) {
    __asm__ volatile(".skip 16, 0x90");
    return 0;
}
#if CUDA == 12
FUNCTION int cudaGetDeviceProperties_v2(void *properties) BODY
#elif CUDA == 13
FUNCTION int cudaLibraryLoadData(void *library) BODY
#endif
/* Not the runtime's: nobody redirects it. */
FUNCTION int cudaOfTheUser(void) BODY

static char wrapper[24] = "wrapper";

static void use(const char *who) {
    int version = 0, devices = 0;
    void *pointer = 0;
    int malloc = cudaMalloc(&pointer, 64);
    int asked = cudaRuntimeGetVersion(&version), counted = cudaGetDeviceCount(&devices);
    printf("%s: malloc %d, version %d %d, devices %d %d, last %d, %s, user %d\n", who, malloc,
           asked, version, counted, devices, cudaGetLastError(), cudaGetErrorString(2),
           cudaOfTheUser());
    cudaFree(pointer);
}

#ifdef LIBRARY
static void **registered;

__attribute__((constructor)) static void at_load(void) {
    registered = __cudaRegisterFatBinary(wrapper);
}

int work(void) {
    printf("registered %d\n", registered != 0);
    use("library");
    return 5;
}
#else
int main(int count, char **arguments) {
    use("program");
    for (int i = 1; i < count; i++) {
        void *library = dlopen(arguments[i], RTLD_NOW);
        if (!library) return printf("%s\n", dlerror()), 1;
        int found = ((int (*)(void))dlsym(library, "work"))();
        printf("found %d, closed %d\n", found, dlclose(library));
    }
    return 0;
}
#endif
