/* Makes graphs by the runtime, node by node and by capture, changes and launches them.
 *
 *   cc -o graphs graphs.c -ldl && simt-sim exec -- ./graphs */
#include "fatbin.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64, u64);

/* p[i] += n for 8 threads. */
static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .b8 v[32];\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r3, [%rd3];\n"
    "add.u32 %r3, %r3, %r1;\nst.global.u32 [%rd3], %r3;\nret;\n}\n";

/* `cudaKernelNodeParams`, `cudaMemsetParams`, `cudaHostNodeParams`, `cudaMemcpy3DParms`. */
typedef struct { void *func; unsigned grid[3], block[3], shared; void **params, **extra; } Kernel;
typedef struct { void *at; u64 pitch; unsigned value, element; u64 width, height; } Set;
typedef struct { void (*fn)(void *); void *data; } Host;
typedef struct {
    void *from_array; u64 from_at[3]; struct { void *at; u64 pitch, width, height; } from;
    void *to_array; u64 to_at[3]; struct { void *at; u64 pitch, width, height; } to;
    u64 extent[3]; unsigned kind;
} Copy;

static void *library;
static char stub, variable[32];
static unsigned in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8];

static unsigned call(const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h,
                     u64 i) {
    Function function = (Function)dlsym(library, name);
    unsigned result = function ? function(a, b, c, d, e, f, g, h, i) : 9999;
    if (result) printf("%s: %u\n", name, result);
    return result;
}
#define ALL(name, a, b, c, d, e, f, g, h, i, ...) \
    call(name, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f), (u64)(g), (u64)(h), \
         (u64)(i))
#define CALL(name, ...) ALL(name, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0)

static void show(const char *what) {
    printf("%s:", what);
    for (int i = 0; i < 8; i++) printf(" %u", out[i]);
    printf("\n");
}
static void say(void *text) {
    printf("%s, first %u\n", (char *)text, out[0]);
    fflush(stdout);
}
static void types(void *graph) {
    void *nodes[16];
    u64 count = 16;
    CALL("cudaGraphGetNodes", graph, nodes, &count);
    printf("types:");
    for (u64 i = 0; i < count; i++) {
        unsigned type = 99;
        CALL("cudaGraphNodeGetType", nodes[i], &type);
        printf(" %u", type);
    }
    printf("\n");
}
static void run(void *exec, void *stream) {
    CALL("cudaGraphLaunch", exec, stream);
    CALL("cudaStreamSynchronize", stream);
}

int main(void) {
    library = dlopen("libcudart.so.13", RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    void **module = register_ptx(library, PTX, sizeof PTX);
    ((void (*)())dlsym(library, "__cudaRegisterFunction"))(module, &stub, "add", "add", -1, 0L, 0L,
                                                           0L, 0L, 0L);
    ((void (*)())dlsym(library, "__cudaRegisterVar"))(module, variable, "v", "v", 0, 32L, 0, 0);
    ((void (*)())dlsym(library, "__cudaRegisterFatBinaryEnd"))(module);
    void *stream, *p, *graph, *exec, *copy, *add, *back, *last, *host, *clone;
    unsigned n = 10, status = 9;
    CALL("cudaStreamCreate", &stream);
    CALL("cudaMalloc", &p, 64);

    /* Node by node. */
    void *arguments[] = {&p, &n};
    Kernel kernel = {&stub, {1, 1, 1}, {8, 1, 1}, 0, arguments, 0}, found;
    Host called = {say, "called"};
    CALL("cudaGraphCreate", &graph, 0);
    CALL("cudaGraphAddMemcpyNode1D", &copy, graph, 0, 0, p, in, 32, 1);
    CALL("cudaGraphAddKernelNode", &add, graph, &copy, 1, &kernel);
    CALL("cudaGraphAddMemcpyNodeToSymbol", &back, graph, &add, 1, variable, p, 32, 0, 3);
    CALL("cudaGraphAddMemcpyNodeFromSymbol", &last, graph, &back, 1, out, variable, 32, 0, 2);
    CALL("cudaGraphAddHostNode", &host, graph, &last, 1, &called);
    types(graph);
    CALL("cudaGraphInstantiate", &exec, graph, 0);
    run(exec, stream);
    show("nodes");
    n = 20;
    CALL("cudaGraphExecKernelNodeSetParams", exec, add, &kernel);
    CALL("cudaGraphExecMemcpyNodeSetParams1D", exec, copy, p, in + 4, 16, 1);
    CALL("cudaGraphExecMemcpyNodeSetParamsFromSymbol", exec, last, out, variable, 16, 16, 2);
    called.data = "changed";
    CALL("cudaGraphExecHostNodeSetParams", exec, host, &called);
    run(exec, stream);
    show("changed");
    CALL("cudaGraphKernelNodeGetParams", add, &found);
    printf("kernel %d, block %u, n %u\n", found.func == &stub, found.block[0],
           *(unsigned *)found.params[1]);
    found.block[0] = 2;
    CALL("cudaGraphKernelNodeSetParams", add, &found);
    Copy of_node;
    CALL("cudaGraphMemcpyNodeGetParams", copy, &of_node);
    printf("copy %d %d %d, kind %u\n", of_node.from.at == in, of_node.to.at == p,
           (int)of_node.extent[0], of_node.kind);
    CALL("cudaGraphMemcpyNodeSetParams", copy, &of_node);
    struct { unsigned result; void *node, *from; } info = {9};
    CALL("cudaGraphExecUpdate", exec, graph, &info);
    printf("update %u\n", info.result);
    run(exec, stream);
    show("updated");
    CALL("cudaGraphClone", &clone, graph);
    CALL("cudaGraphNodeFindInClone", &add, add, clone);
    struct { unsigned type, zero[3]; u64 words[29], last; } any = {0, {0}, {0}, 0};
    n = 100, memcpy(any.words, &kernel, sizeof kernel);
    CALL("cudaGraphNodeSetParams", add, &any);
    void *empty;
    any.type = 5;
    CALL("cudaGraphAddNode", &empty, clone, &add, 0, 1, &any);
    types(clone);
    CALL("cudaGraphInstantiateWithFlags", &exec, clone, 0);
    run(exec, stream);
    show("clone");

    /* By capture, with memory of the graph. */
    void *q, *from[8], *to[8];
    u64 edges = 8;
    CALL("cudaStreamBeginCapture", stream, 0);
    CALL("cudaStreamIsCapturing", stream, &status);
    CALL("cudaMallocAsync", &q, 32, stream);
    CALL("cudaMemcpyAsync", q, in, 32, 4, stream);
    CALL("cudaMemsetAsync", q, 0, 8, stream);
    arguments[0] = &q;
    CALL("cudaLaunchKernel", &stub, 1ull << 32 | 1, 1, 1ull << 32 | 8, 1, arguments, 0, stream);
    CALL("cudaMemcpyAsync", out, q, 32, 2, stream);
    CALL("cudaLaunchHostFunc", stream, say, "captured");
    CALL("cudaFreeAsync", q, stream);
    CALL("cudaStreamEndCapture", stream, &graph);
    printf("status %u\n", status);
    types(graph);
    CALL("cudaGraphGetEdges", graph, from, to, 0, &edges);
    printf("%d edges\n", (int)edges);
    CALL("cudaGraphInstantiate", &exec, graph, 0);
    run(exec, stream);
    run(exec, stream);
    show("captured");
    CALL("cudaStreamBeginCapture", stream, 0);
    CALL("cudaMalloc", &q, 16);
    CALL("cudaStreamEndCapture", stream, &graph);
    CALL("cudaGraphExecDestroy", exec);
    CALL("cudaGraphDestroy", clone);
    return 0;
}
