/* Binds a texture and a surface reference as programs of CUDA 11 do: to linear memory, to pitched
 * memory and to an array, with other filters and read modes. Prints what kernels read.
 *
 *   cc -o references references.c -ldl && simt-sim exec -- ./references */
#include "fatbin.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64);

enum { WIDTH = 8, HEIGHT = 4 };

static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".global .texref line;\n.global .texref plane;\n.global .texref ratios;\n"
    ".global .surfref target;\n"
    ".visible .entry read(.param .u64 p)\n{\n.reg .b64 %a;\n.reg .b32 %r, %s;\n.reg .f32 %x, %y, %f<5>;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %r, %tid.x;\nmad.wide.u32 %a, %r, 12, %a;\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [line, {%r}];\nst.global.f32 [%a], %f1;\n"
    "cvt.rn.f32.u32 %x, %r;\nmov.f32 %y, 0f40000000;\n"
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [plane, {%x, %y}];\nst.global.f32 [%a+4], %f1;\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [ratios, {%r}];\nst.global.f32 [%a+8], %f2;\n"
    "ret;\n}\n"
    ".visible .entry write()\n{\n.reg .b32 %r, %s;\nmov.u32 %r, %tid.x;\nshl.b32 %s, %r, 2;\n"
    "mul.lo.u32 %r, %r, 11;\nsust.b.2d.b32.trap [target, {%s, %r}], {%r};\nret;\n}\n";

/* `cudaChannelFormatDesc` and `textureReference`. */
struct Channels { int x, y, z, w, kind; };
struct Texture {
    int normalized, filter, modes[3];
    struct Channels channels;
    int srgb, more[20];
};

static void *library;
static char read_stub, write_stub;
static struct Texture line = {0, 0, {1, 1, 1}, {32, 0, 0, 0, 2}};
static struct Texture plane = {0, 1, {1, 1, 1}, {32, 0, 0, 0, 2}};
static struct Texture ratios = {0, 0, {1, 1, 1}, {8, 8, 0, 0, 1}};
static struct Texture unknown;
static struct Channels target = {32, 0, 0, 0, 1};

static unsigned call(const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g) {
    Function function = (Function)dlsym(library, name);
    unsigned result = function ? function(a, b, c, d, e, f, g, 0) : 9999;
    if (result) printf("%s: %u\n", name, result);
    return result;
}
#define CALL(name, a, b, c, d, e, f, g) \
    call(name, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f), (u64)(g))

/* Registers kernels and references as a program of nvcc does. */
static void enter(void) {
    void **module = register_ptx(library, PTX, sizeof PTX);
    void (*kernel)() = (void (*)())dlsym(library, "__cudaRegisterFunction");
    kernel(module, &read_stub, "read", "read", -1, 0L, 0L, 0L, 0L, 0L);
    kernel(module, &write_stub, "write", "write", -1, 0L, 0L, 0L, 0L, 0L);
    void (*texture)() = (void (*)())dlsym(library, "__cudaRegisterTexture");
    texture(module, &line, 0L, "line", 1, 0, 0);
    texture(module, &plane, 0L, "plane", 2, 0, 0);
    texture(module, &ratios, 0L, "ratios", 1, 1, 0);
    ((void (*)())dlsym(library, "__cudaRegisterSurface"))(module, &target, 0L, "target", 2, 0);
    ((void (*)())dlsym(library, "__cudaRegisterFatBinaryEnd"))(module);
}

static void run(const char *title, void *out) {
    float read[3 * WIDTH];
    void *arguments[] = {&out};
    unsigned (*launch)(void *, u64, unsigned, u64, unsigned, void **, size_t, void *) =
        (void *)dlsym(library, "cudaLaunchKernel");
    unsigned result = launch(&read_stub, 1ull << 32 | 1, 1, 1ull << 32 | WIDTH, 1, arguments, 0, 0);
    CALL("cudaMemcpy", read, out, sizeof read, 2, 0, 0, 0);
    printf("%s (%u)\n", title, result);
    for (int row = 0; row < 3; row++)
        for (int i = 0; i < WIDTH; i++) printf("%g%c", read[3 * i + row], i + 1 < WIDTH ? ' ' : '\n');
}

int main(void) {
    library = dlopen("libcudart.so.11.0", RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    enter();
    float values[WIDTH * HEIGHT];
    unsigned char bytes[2 * WIDTH];
    for (int i = 0; i < WIDTH * HEIGHT; i++) values[i] = (float)(i * i);
    for (int i = 0; i < 2 * WIDTH; i++) bytes[i] = (unsigned char)(i * 17);
    void *linear = 0, *pitched = 0, *array = 0, *other = 0, *few = 0, *out = 0;
    size_t pitch = 0, offset = 7;
    CALL("cudaMalloc", &linear, sizeof values, 0, 0, 0, 0, 0);
    CALL("cudaMalloc", &few, sizeof bytes, 0, 0, 0, 0, 0);
    CALL("cudaMalloc", &out, 3 * WIDTH * 4, 0, 0, 0, 0, 0);
    CALL("cudaMallocPitch", &pitched, &pitch, WIDTH * 4, HEIGHT, 0, 0, 0);
    CALL("cudaMallocArray", &array, &line.channels, WIDTH, HEIGHT, 0, 0, 0);
    CALL("cudaMallocArray", &other, &target, WIDTH, WIDTH * 11, 2, 0, 0);
    CALL("cudaMemcpy", linear, values, sizeof values, 1, 0, 0, 0);
    CALL("cudaMemcpy", few, bytes, sizeof bytes, 1, 0, 0, 0);
    CALL("cudaMemcpy2D", pitched, pitch, values, WIDTH * 4, WIDTH * 4, HEIGHT, 1);
    CALL("cudaMemcpy2DToArray", array, 0, 0, values, WIDTH * 4, WIDTH * 4, HEIGHT);

    struct Texture *found = 0;
    CALL("cudaGetTextureReference", &found, &line, 0, 0, 0, 0, 0);
    printf("found %d\n", found == &line);
    CALL("cudaBindTexture", &offset, &line, (char *)linear + 4, &line.channels, 0xffffffff, 0, 0);
    CALL("cudaBindTexture2D", 0, &plane, pitched, &plane.channels, WIDTH, HEIGHT, pitch);
    CALL("cudaBindTexture", 0, &ratios, few, &ratios.channels, sizeof bytes, 0, 0);
    printf("offset %zu\n", offset);
    offset = 7;
    CALL("cudaGetTextureAlignmentOffset", &offset, &line, 0, 0, 0, 0, 0);
    printf("offset %zu\n", offset);
    run("linear, pitched and ratios", out);
    plane.filter = 0;
    CALL("cudaBindTextureToArray", &plane, array, &plane.channels, 0, 0, 0, 0);
    CALL("cudaUnbindTexture", &ratios, 0, 0, 0, 0, 0, 0);
    CALL("cudaBindTexture", 0, &ratios, few, &ratios.channels, 8, 0, 0);
    run("linear, array and half of the ratios", out);

    CALL("cudaBindTexture", 0, &unknown, linear, &line.channels, 8, 0, 0);
    CALL("cudaUnbindTexture", &unknown, 0, 0, 0, 0, 0, 0);
    CALL("cudaGetTextureReference", &found, &unknown, 0, 0, 0, 0, 0);
    CALL("cudaBindTexture", 0, &line, 0x10, &line.channels, 8, 0, 0);
    plane.srgb = 1;
    CALL("cudaBindTextureToArray", &plane, array, &plane.channels, 0, 0, 0, 0);

    CALL("cudaBindSurfaceToArray", &target, other, &target, 0, 0, 0, 0);
    unsigned (*launch)(void *, u64, unsigned, u64, unsigned, void **, size_t, void *) =
        (void *)dlsym(library, "cudaLaunchKernel");
    printf("write %u\n", launch(&write_stub, 1ull << 32 | 1, 1, 1ull << 32 | WIDTH, 1, 0, 0, 0));
    static unsigned written[WIDTH * 11][WIDTH];
    unsigned (*back)(void *, size_t, void *, size_t, size_t, size_t, size_t, int) =
        (void *)dlsym(library, "cudaMemcpy2DFromArray");
    printf("back %u\n", back(written, WIDTH * 4, other, 0, 0, WIDTH * 4, WIDTH * 11, 2));
    for (int i = 0; i < WIDTH; i++) printf("%u%c", written[11 * i][i], i + 1 < WIDTH ? ' ' : '\n');
    CALL("cudaBindSurfaceToArray", &unknown, other, &target, 0, 0, 0, 0);
    struct Channels *surface = 0;
    CALL("cudaGetSurfaceReference", &surface, &target, 0, 0, 0, 0, 0);
    printf("found %d\n", surface == &target);
    CALL("cudaGetSurfaceReference", &surface, &unknown, 0, 0, 0, 0, 0);
    return 0;
}
