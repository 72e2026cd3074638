/* Calls the runtime API as a program of nvcc does, by versioned names; prints what it gets.
 * Arguments: file name of the library, whose name is also the symbols' version. Standard input:
 * names that must be there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned x, y, z; } Dim3;
typedef struct { void *pointer; size_t pitch, width, height; } Pitched;
typedef struct { size_t width, height, depth; } Extent;
typedef struct {
    void *from_array; size_t from_at[3]; Pitched from;
    void *to_array; size_t to_at[3]; Pitched to;
    Extent extent; int kind;
} Box;

static void *library;
static const char *version;

static void *look(const char *name) {
    void *found = dlvsym(library, name, version);
    if (!found) printf("lacks %s\n", name);
    return found;
}

#define CALL(name, types) ((int (*) types)look(#name))

static void *other_thread(void *unused) {
    printf("other thread: %d\n", CALL(cudaGetLastError, (void))());
    return NULL;
}

/* Bytes of a structure that a call writes, told by what stays 0x55 after it. */
static int written(const unsigned char *bytes, int size) {
    while (size > 0 && bytes[size - 1] == 0x55) size--;
    return size;
}

int main(int count, char **arguments) {
    version = arguments[1];
    library = dlopen(version, RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    char name[256];
    while (scanf("%255s", name) == 1) look(name);

    static char stub, stub_of_fault, stub_of_none, shadow;
    static char wrapper[24] = "wrapper";
    static int *managed;
    void **module = ((void **(*)(void *))look("__cudaRegisterFatBinary"))(wrapper);
    void (*function)() = (void (*)())look("__cudaRegisterFunction");
    function(module, &stub, "kernel", "kernel", -1, 0, 0, 0, 0, 0);
    function(module, &stub_of_fault, "fault", "fault", -1, 0, 0, 0, 0, 0);
    function(module, &stub_of_none, "none", "none", -1, 0, 0, 0, 0, 0);
    ((void (*)())look("__cudaRegisterVar"))(module, &shadow, "v", "variable", 0, 16L, 1, 0);
    ((void (*)())look("__cudaRegisterManagedVar"))(module, &managed, "m", "managed", 0, 4L, 0, 0);
    ((void (*)())look("__cudaRegisterFatBinaryEnd"))(module);

    int (*launch)(void *, Dim3, Dim3, void **, size_t, void *) = look("cudaLaunchKernel");
    int argument = 42;
    void *list[] = {&argument};
    Dim3 grid = {4, 2, 1}, block = {64, 1, 1}, large = {2048, 1, 1}, none = {0, 1, 1};
    CALL(__cudaPushCallConfiguration, (Dim3, Dim3, size_t, void *))(grid, block, 16, NULL);
    Dim3 popped_grid, popped_block;
    size_t shared;
    void *stream;
    int (*pop)(Dim3 *, Dim3 *, size_t *, void **) = look("__cudaPopCallConfiguration");
    int first = pop(&popped_grid, &popped_block, &shared, &stream);
    printf("pop %d, then %d\n", first, pop(&popped_grid, &popped_block, &shared, &stream));
    CALL(cudaGetLastError, (void))();
    printf("launch %d\n", launch(&stub, popped_grid, popped_block, list, shared, stream));
    printf("managed %d\n", managed != NULL);
    printf("own stream %d\n", ((int (*)(void *, Dim3, Dim3, void **, size_t, void *))look(
        "cudaLaunchKernel_ptsz"))(&stub, grid, block, list, 0, NULL));
    printf("large %d", launch(&stub, grid, large, list, 0, NULL));
    printf(" empty %d", launch(&stub, none, block, list, 0, NULL));
    printf(" unknown %d", launch(&shared, grid, block, list, 0, NULL));
    printf(" absent %d\n", launch(&stub_of_none, grid, block, list, 0, NULL));

    int (*last)(void) = look("cudaGetLastError"), (*peek)(void) = look("cudaPeekAtLastError");
    pthread_t thread;
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    printf("peek %d", peek());
    printf(" last %d", last());
    printf(" last %d\n", last());
    int (*query)(void *) = look("cudaEventQuery");
    printf("query %d", query(NULL));
    printf(" last %d\n", last());

    int values[4] = {1, 2, 3, 4}, back[4] = {0};
    int (*to)(void *, void *, size_t, size_t, int) = look("cudaMemcpyToSymbol");
    int (*from)(void *, void *, size_t, size_t, int) = look("cudaMemcpyFromSymbol");
    printf("symbol %d", to(&shadow, values, 16, 0, 1));
    printf(" beyond %d", to(&shadow, values, 16, 4, 1));
    printf(" wild %d", to(values, values, 16, 0, 1));
    printf(" direction %d\n", to(&shadow, values, 16, 0, 2));
    printf("back %d", from(back, &shadow, 8, 8, 2));
    printf(" %d %d\n", back[0], back[1]);
    printf("null %d zero ", CALL(cudaMalloc, (void *, size_t))(NULL, 16));
    void *memory = values;
    printf("%d ", CALL(cudaMalloc, (void *, size_t))(&memory, 0));
    printf("%d\n", memory == NULL);

    static char host[512];
    Box box = {NULL, {4, 1, 0}, {host, 64, 64, 2}, NULL, {0}, {host, 32, 32, 2}, {16, 2, 2}, 1};
    printf("box %d\n", CALL(cudaMemcpy3D, (Box *))(&box));
    box.extent.width = 33;
    printf("wide %d\n", CALL(cudaMemcpy3D, (Box *))(&box));
    Pitched slices = {(void *)1000, 64, 16, 2};
    Extent extent = {16, 2, 2};
    printf("slices %d\n", CALL(cudaMemset3D, (Pitched, int, Extent))(slices, 7, extent));

    static unsigned char bytes[2048];
    memset(bytes, 0x55, sizeof bytes);
    int code = CALL(cudaGetDeviceProperties, (void *, int))(bytes, 0);
    printf("properties %d: %s %d.%d, %d bytes\n", code, bytes, *(int *)(bytes + 360),
           *(int *)(bytes + 364), written(bytes, sizeof bytes));
    memset(bytes, 0x55, sizeof bytes);
    CALL(cudaGetDeviceProperties_v2, (void *, int))(bytes, 0);
    printf("second layout: clock %d, %d bytes\n", *(int *)(bytes + 348),
           written(bytes, sizeof bytes));
    memset(bytes, 0x55, sizeof bytes);
    code = CALL(cudaFuncGetAttributes, (void *, void *))(bytes, &stub);
    printf("attributes %d: %zu %d %d, %d bytes\n", code, *(size_t *)bytes, *(int *)(bytes + 24),
           *(int *)(bytes + 28), written(bytes, sizeof bytes));
    memset(bytes, 0x55, sizeof bytes);
    code = CALL(cudaPointerGetAttributes, (void *, void *))(bytes, values);
    printf("pointer %d: type %d, %d bytes\n", code, *(int *)bytes, written(bytes, sizeof bytes));
    int number;
    CALL(cudaRuntimeGetVersion, (int *))(&number);
    printf("version %d\n", number);

    /* Two files that were compiled apart: header of 16 bytes, content of 8. */
    static struct { unsigned magic; unsigned short version, header; long size; char text[8]; }
        parts[] = {{0xba55ed50, 1, 16, 8, "first"}, {0xba55ed50, 1, 16, 8, "second"}};
    static void *list_of_parts[] = {&parts[0], &parts[1], NULL};
    static struct { int magic, version; void *data, *parts; }
        wrapper_of_parts = {0x466243b1, 2, &parts[0], list_of_parts};
    static char linked_stub;
    module = ((void **(*)(void *))look("__cudaRegisterFatBinary"))(&wrapper_of_parts);
    function(module, &linked_stub, "kernel", "kernel", -1, 0, 0, 0, 0, 0);
    printf("linked %d\n", launch(&linked_stub, grid, block, list, 0, NULL));

    int (*missing)(void *, int) = look("cudaMallocMipmappedArray");
    printf("missing %d %d\n", missing(NULL, 0), missing(NULL, 0));
    last();
    launch(&stub_of_fault, grid, block, list, 0, NULL);
    printf("fault %d", CALL(cudaDeviceSynchronize, (void))());
    printf(" last %d", last());
    printf(" %d\n", last());
    printf("reset %d", CALL(cudaDeviceReset, (void))());
    printf(" last %d malloc ", last());
    printf("%d\n", CALL(cudaMalloc, (void *, size_t))(&memory, 16));
    printf("%s: %s\n", ((const char *(*)(int))look("cudaGetErrorName"))(9),
           ((const char *(*)(int))look("cudaGetErrorString"))(9));
    return 0;
}
