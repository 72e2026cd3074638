/* What the programs that ask the driver about graphs share: calls, kernels, memory, and graphs in
 * words. Each part of a program is a process of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t u64;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 p, .param .u32 q)\n{\n.reg .b64 %a;\n.reg .b32 %b;\n"
    "ld.param.u64 %a, [p];\nld.param.u32 %b, [q];\nst.global.u32 [%a], %b;\nret;\n}\n"
    ".visible .entry twice(.param .u64 p)\n{\n.reg .b64 %a;\n.reg .b32 %b;\n"
    "ld.param.u64 %a, [p];\nld.global.u32 %b, [%a];\nadd.u32 %b, %b, %b;\n"
    "st.global.u32 [%a], %b;\nret;\n}\n";

static void *lib, *ctx, *mod, *store, *twice, *s, *s2, *ev, *ev2, *free_stream;
static u64 p;
static unsigned value = 5;
static void *arguments[2] = {&p, &value};
static void *list[64], *other[64];
static unsigned host[16];

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
static unsigned quiet(const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h,
                      u64 i, u64 j, u64 k) {
    return ((Function)dlsym(lib, name))(a, b, c, d, e, f, g, h, i, j, k, 0);
}
#define ALLQ(name, a, b, c, d, e, f, g, h, i, j, k, ...) \
    quiet(name, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f), (u64)(g), (u64)(h), \
          (u64)(i), (u64)(j), (u64)(k))
#define DO(name, ...) ALLQ(name, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

typedef struct {
    void *func;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kern, *ctx;
} Kernel;
typedef struct {
    u64 dst, pitch;
    unsigned value, element;
    u64 width, height;
} Set;
typedef struct {
    u64 sx, sy, sz, slod;
    unsigned stype;
    const void *shost;
    u64 sdev, sarray, r0, spitch, sheight, dx, dy, dz, dlod;
    unsigned dtype;
    void *dhost;
    u64 ddev, darray, r1, dpitch, dheight, w, h, d;
} Copy;
typedef struct {
    void (*fn)(void *);
    void *data;
} Host;

static Kernel kernel(void *func) {
    Kernel k = {func, {1, 1, 1}, {1, 1, 1}, 0, arguments, 0, 0, 0};
    return k;
}
static Copy to_host(void *to, u64 from, u64 bytes) {
    Copy c = {0};
    c.stype = 2, c.sdev = from, c.dtype = 1, c.dhost = to, c.w = bytes, c.h = 1, c.d = 1;
    return c;
}
/* What functions of the host were told, until `hear` prints it. */
static char told[256];
static void say(void *text) { strcat(strcat(strcat(told, "host: "), text), "\n"); }
static void hear(void) {
    printf("%s", told);
    told[0] = 0;
}

static void start(void) {
    int device = 0;
    DO("cuInit", 0);
    DO("cuDeviceGet", &device, 0);
    DO("cuDevicePrimaryCtxRetain", &ctx, device);
    DO("cuCtxSetCurrent", ctx);
    DO("cuModuleLoadData", &mod, PTX);
    DO("cuModuleGetFunction", &store, mod, "store");
    DO("cuModuleGetFunction", &twice, mod, "twice");
    DO("cuStreamCreate", &s, 0);
    DO("cuStreamCreate", &s2, 0);
    DO("cuStreamCreate", &free_stream, 1);
    DO("cuEventCreate", &ev, 2);
    DO("cuEventCreate", &ev2, 2);
    DO("cuMemAlloc_v2", &p, 4096);
    DO("cuMemsetD8_v2", p, 0, 4096);
}

static int index_of(void *node, void **nodes, u64 count) {
    for (u64 i = 0; i < count; i++)
        if (nodes[i] == node) return i;
    return -1;
}
/* Prints the nodes of a graph by type, and its edges by number of node. */
static void show(void *graph) {
    void *nodes[64], *from[64], *to[64];
    u64 count = 64, edges = 64;
    printf("nodes");
    if (DO("cuGraphGetNodes", graph, nodes, &count)) count = 0, printf(" failed");
    for (u64 i = 0; i < count; i++) {
        unsigned type = 99;
        DO("cuGraphNodeGetType", nodes[i], &type);
        printf(" %u", type);
    }
    printf("; edges");
    if (DO("cuGraphGetEdges", graph, from, to, &edges)) edges = 0, printf(" failed");
    for (u64 i = 0; i < edges; i++)
        printf(" %d>%d", index_of(from[i], nodes, count), index_of(to[i], nodes, count));
    printf("\n");
}
static unsigned word(void) {
    unsigned found = 0;
    DO("cuStreamSynchronize", s);
    hear();
    DO("cuMemcpyDtoH_v2", &found, p, 4);
    return found;
}

static void begin(void) { DO("cuStreamBeginCapture_v2", s, 0); }
static void end(void) {
    void *g = (void *)1;
    unsigned status = 9;
    DO("cuStreamIsCapturing", s, &status);
    printf("capturing %u, ", status);
    unsigned code = DO("cuStreamEndCapture", s, &g);
    printf("end %u, graph %d\n", code, g != 0);
}
/* A part of a program with its number in the record. */
typedef struct { int number; void (*ask)(void); } Part;

static int run(const Part *parts, int count) {
    for (int i = 0; i < count; i++) {
        printf("part %d\n", parts[i].number);
        fflush(stdout);
        int status = 0, child = fork();
        if (!child) {
            lib = dlopen("libcuda.so.1", RTLD_NOW);
            if (!lib) return puts(dlerror()), 1;
            alarm(60);
            start();
            parts[i].ask();
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status) printf("ended with %d\n", status);
    }
    return 0;
}
