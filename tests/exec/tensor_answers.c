/* Encodes tensor maps, rightly and by mistake, and copies tiles by them: loads, stores, reductions,
 * mistakes. Prints codes, the words of a map, and a checksum of what each copy wrote.
 *
 *   cc -o tensor_answers tensor_answers.c -ldl && simt-sim exec -- ./tensor_answers
 *
 * tensor_answers.txt is what an H200 printed (driver 580.159.04, CUDA 13.0, 2026-11-30). */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef unsigned (*Function)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);
typedef struct {
    int type;
    u32 rank;
    u64 address, dims[5], strides[4];
    u32 box[5], steps[5];
    int interleave, swizzle, promotion, fill;
} Tensor;
enum { SHARED = 32768, BYTES = 1 << 20 };
static const u32 SIZE[13] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
/* Shared memory is filled with 0xee or from global memory, one thread starts the copy and waits. */
static const char HEAD[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".shared .align 1024 .b8 data[32768];\n.shared .align 8 .b64 bar;\n";
static const char KERNEL[] =
    ".visible .entry k%d(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 c0,\n"
    "  .param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4, .param .u32 at,\n"
    "  .param .u32 expect, .param .u64 from, .param .u64 place)\n"
    "{\n.reg .pred %%p<4>;\n.reg .b32 %%r<20>;\n.reg .b64 %%d<10>;\n"
    "mov.b64 %%d1, map;\ncvta.param.u64 %%d1, %%d1;\nld.param.u64 %%d2, [out];\n"
    "ld.param.u64 %%d5, [place];\nsetp.ne.u64 %%p1, %%d5, 0;\nselp.b64 %%d1, %%d5, %%d1, %%p1;\n"
    "ld.param.u64 %%d3, [from];\n"
    "ld.param.u32 %%r1, [c0];\nld.param.u32 %%r2, [c1];\nld.param.u32 %%r3, [c2];\n"
    "ld.param.u32 %%r4, [c3];\nld.param.u32 %%r5, [c4];\nld.param.u32 %%r6, [at];\n"
    "ld.param.u32 %%r7, [expect];\nmov.u32 %%r8, %%tid.x;\nmov.u32 %%r9, data;\n"
    "mov.u32 %%r10, bar;\nadd.u32 %%r11, %%r9, %%r6;\nshl.b32 %%r12, %%r8, 2;\n"
    "setp.eq.u64 %%p1, %%d3, 0;\n"
    "Fill:\nadd.u32 %%r13, %%r9, %%r12;\nmov.b32 %%r14, 0xeeeeeeee;\ncvt.u64.u32 %%d4, %%r12;\n"
    "add.u64 %%d4, %%d4, %%d3;\n@!%%p1 ld.global.u32 %%r14, [%%d4];\n"
    "st.shared.u32 [%%r13], %%r14;\n"
    "add.u32 %%r12, %%r12, 512;\nsetp.lt.u32 %%p2, %%r12, 32768;\n@%%p2 bra Fill;\n"
    "setp.ne.u32 %%p3, %%r8, 0;\n"
    "@!%%p3 mbarrier.init.shared.b64 [%%r10], 1;\nfence.proxy.async;\nbar.sync 0;\n"
    "@%%p3 bra Dump;\n%s\nDump:\nbar.sync 0;\n@!%%p1 exit;\nshl.b32 %%r12, %%r8, 2;\n"
    "Loop:\nadd.u32 %%r13, %%r9, %%r12;\nld.shared.u32 %%r14, [%%r13];\ncvt.u64.u32 %%d4, %%r12;\n"
    "add.u64 %%d4, %%d4, %%d2;\nst.global.u32 [%%d4+4], %%r14;\nadd.u32 %%r12, %%r12, 512;\n"
    "setp.lt.u32 %%p2, %%r12, 32768;\n@%%p2 bra Loop;\nret;\n}\n";
static const char LOAD[] =
    "mbarrier.arrive.expect_tx.shared.b64 _, [%%r10], %%r7;\n"
    "cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r11], "
    "[%%d1, {%s}], [%%r10];\nmov.u32 %%r15, 0;\n"
    "Wait:\nmbarrier.test_wait.parity.shared.b64 %%p2, [%%r10], 0;\nadd.u32 %%r15, %%r15, 1;\n"
    "setp.gt.u32 %%p1, %%r15, 20000;\nor.pred %%p2, %%p1, %%p2;\n@!%%p2 bra Wait;\n"
    "selp.u32 %%r15, 1, 0, %%p1;\nst.global.u32 [%%d2], %%r15;\nsetp.eq.u64 %%p1, %%d3, 0;\n";
static const char STORE[] =
    "cp.%s.%dd.global.shared::cta%s.tile.bulk_group [%%d1, {%s}], [%%r11];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
static const char *REDUCTION[8] = {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};

static void *lib, *kernels[64];
static u64 data, out, from, map_at;
static unsigned char host[BYTES], result[SHARED + 4];

static unsigned call(const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h,
                     u64 i, u64 j, u64 k, u64 l) {
    Function function = (Function)dlsym(lib, name);
    return function ? function(a, b, c, d, e, f, g, h, i, j, k, l) : 9999;
}
#define ALL(name, a, b, c, d, e, f, g, h, i, j, k, l, ...) \
    call(name, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f), (u64)(g), (u64)(h), \
         (u64)(i), (u64)(j), (u64)(k), (u64)(l))
#define DO(name, ...) ALL(name, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

static u64 seed = 12345;
static u32 draw(u32 n) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(seed >> 33) % n;
}
static u32 checksum(const void *bytes, u32 count) {
    u32 sum = 2166136261u;
    for (u32 i = 0; i < count; i++) sum = (sum ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return sum;
}
static unsigned encode(void *map, const Tensor *t) {
    return DO("cuTensorMapEncodeTiled", map, t->type, t->rank, t->address, t->dims, t->strides,
              t->box, t->steps, t->interleave, t->swizzle, t->promotion, t->fill);
}
/* Prints the answer for a map, and a checksum of it. */
static void one(const char *what, const Tensor *t) {
    _Alignas(64) unsigned char map[128] = {0};
    unsigned code = encode(map, t);
    printf("%s: %u, %08x\n", what, code, code ? 0 : checksum(map, 128));
}
static void print(const Tensor *t) {
    printf("type %d", t->type);
    for (u32 i = 0; i < t->rank && i < 5; i++)
        printf(" %llu(%u/%u)", (unsigned long long)t->dims[i], t->box[i], t->steps[i]);
    for (u32 i = 0; i + 1 < t->rank && i < 4; i++)
        printf(" +%llu", (unsigned long long)t->strides[i]);
    printf(" i%d s%d p%d f%d", t->interleave, t->swizzle, t->promotion, t->fill);
}

/* Kernels 1 to 5 load tensors of that rank, 6 to 10 store, from 11 on they reduce 1 to 5 by 8. */
static int start(void) {
    static char text[262144], body[4096], from_text[4096];
    void *context = 0, *module = 0;
    DO("cuInit", 0);
    DO("cuDevicePrimaryCtxRetain", &context, 0);
    DO("cuCtxSetCurrent", context);
    int length = sprintf(text, "%s", HEAD);
    for (int k = 1; k <= 50; k++) {
        static const char *at[5] = {"%r1", "%r1, %r2", "%r1, %r2, %r3", "%r1, %r2, %r3, %r4",
                                    "%r1, %r2, %r3, %r4, %r5"};
        int rank = (k - 1) % 5;
        if (k <= 5) sprintf(body, LOAD, rank + 1, at[rank]);
        else if (k <= 10) sprintf(body, STORE, "async.bulk.tensor", rank + 1, "", at[rank]);
        else
            sprintf(body, STORE, "reduce.async.bulk.tensor", rank + 1, REDUCTION[(k - 11) / 5],
                    at[rank]);
        length += sprintf(text + length, KERNEL, k, body);
    }
    unsigned code = DO("cuModuleLoadData", &module, text);
    if (code) return printf("module: %u\n", code), 1;
    for (int k = 1; k <= 50; k++) {
        sprintf(from_text, "k%d", k);
        DO("cuModuleGetFunction", &kernels[k], module, from_text);
    }
    DO("cuMemAlloc_v2", &data, BYTES);
    DO("cuMemAlloc_v2", &out, SHARED + 4);
    DO("cuMemAlloc_v2", &from, SHARED);
    return 0;
}
static unsigned launch(int k, const void *map, const int *at, u32 offset, u32 expect, u64 source) {
    void *arguments[] = {(void *)map, &out, (void *)&at[0], (void *)&at[1], (void *)&at[2],
                         (void *)&at[3], (void *)&at[4], &offset, &expect, &source,
                         &map_at};
    unsigned code = DO("cuLaunchKernel", kernels[k], 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0);
    return code ? code : DO("cuCtxSynchronize", 0);
}
static void fill(int type) {
    for (u32 i = 0; i < BYTES; i++) host[i] = (unsigned char)draw(256);
    if (type >= 10) /* Subnormal values, and halves of the last bit of TF32. */
        for (u32 i = 0; i + 28 <= BYTES; i += 28) {
            host[i + 3] &= 0x80, host[i + 2] &= 0x7f;
            host[i + 8] = 0, host[i + 9] = (unsigned char)((host[i + 9] & 0xe0) | 0x10);
        }
    DO("cuMemcpyHtoD_v2", data, host, BYTES);
}
/* Draws a tensor that fits into the memory, with a box that fits into shared memory. */
static Tensor drawn(int plain) {
    Tensor t = {0};
    for (;;) {
        memset(&t, 0, sizeof t);
        t.type = draw(13), t.rank = 1 + draw(5);
        t.address = data + 4096 * draw(4) + 16 * draw(16);
        u64 size = SIZE[t.type], extent = size, box = size;
        for (u32 i = 0; i < 5; i++) {
            t.dims[i] = 1 + draw(i == 0 ? 200 : i == 1 ? 60 : 12);
            t.box[i] = 1 + draw(i == 0 ? 64 : i == 1 ? 24 : 6);
            t.steps[i] = draw(5) ? 1 : 1 + draw(4);
            if (i >= t.rank) t.dims[i] = t.box[i] = t.steps[i] = 1;
            if (i == 0) t.box[0] = (u32)((t.box[0] * size + 15) / 16 * 16 / size);
            extent *= t.dims[i];
            extent = (extent + 15) / 16 * 16 + 16 * draw(2);
            if (i < 4) t.strides[i] = extent;
            box *= t.box[i];
        }
        t.swizzle = draw(2) ? 0 : (int)draw(4), t.promotion = (int)draw(4);
        t.fill = t.type > 5 ? (int)draw(2) : 0;
        if (t.swizzle && t.box[0] * size > 16u << t.swizzle) continue;
        if (extent + 65536 > BYTES / 2 || box > SHARED - 8192) continue;
        if (plain) for (u32 i = 0; i < 5; i++) t.steps[i] = 1;
        return t;
    }
}
static u32 bytes_of(const Tensor *t) {
    u32 n = SIZE[t->type];
    for (u32 i = 0; i < t->rank; i++)
        n *= i ? (t->box[i] + t->steps[i] - 1) / t->steps[i] : t->box[i];
    return n;
}
/* Draws where a tile starts, in part outside of the tensor. Rows of a tile start at 16 bytes. */
static void place(const Tensor *t, int *at) {
    for (u32 i = 0; i < t->rank; i++)
        at[i] = (int)draw((u32)t->dims[i] + t->box[i]) - (int)t->box[i] / 2;
    at[0] = at[0] / (int)(16 / SIZE[t->type]) * (int)(16 / SIZE[t->type]);
}
static int loads(int first, int count) {
    _Alignas(64) unsigned char map[128];
    for (int n = 0; n < count; n++) {
        Tensor t = drawn(n % 3);
        int at[5] = {0};
        if (n % 13 == 0) fill(t.type);
        place(&t, at);
        u32 offset = 128 * draw(4) * draw(8), expect = bytes_of(&t);
        if (n < first) continue;
        unsigned code = encode(map, &t);
        printf("load %d: ", n), print(&t);
        printf(" at %d %d %d %d %d offset %u: %u", at[0], at[1], at[2], at[3], at[4], offset, code);
        if (code) { puts(""); continue; }
        code = launch(t.rank, map, at, offset, expect, 0);
        DO("cuMemcpyDtoH_v2", result, out, SHARED + 4);
        printf(", %u, late %u, %08x\n", code, *(u32 *)result, checksum(result + 4, SHARED));
        fflush(stdout);
        if (code) return n + 1;
    }
    return count;
}
static const u32 VALID[8] = {0x1fdc, 0x27c, 0x27c, 4, 4, 0x1c, 0x1c, 0x1c};
static int stores(int first, int count) {
    _Alignas(64) unsigned char map[128];
    for (int n = 0; n < count; n++) {
        Tensor t = drawn(n % 3);
        int at[5] = {0};
        int f = n % 2 ? (int)draw(8) : -1;
        if (f >= 0 && !(VALID[f] >> t.type & 1)) f = -1;
        fill(t.type);
        place(&t, at);
        u32 offset = 128 * draw(4) * draw(8);
        for (u32 i = 0; i < SHARED; i++) result[i] = (unsigned char)draw(256);
        if (n < first) continue;
        DO("cuMemcpyHtoD_v2", from, result, SHARED);
        unsigned code = encode(map, &t);
        printf("store %d, function %d: ", n, f), print(&t);
        printf(" at %d %d %d %d %d offset %u: %u", at[0], at[1], at[2], at[3], at[4], offset, code);
        if (code) { puts(""); continue; }
        code = launch(t.rank + 5 * (f + 2), map, at, offset, 0, from);
        static unsigned char before[BYTES];
        memcpy(before, host, BYTES);
        DO("cuMemcpyDtoH_v2", host, data, BYTES);
        u32 changed = 0, first = BYTES, last = 0;
        for (u32 i = 0; i < BYTES; i++)
            if (host[i] != before[i]) changed++, last = i, first = first < i ? first : i;
        printf(", %u, %u bytes from %u to %u, %08x\n", code, changed, first, last,
               checksum(host, BYTES));
        fflush(stdout);
        if (code) return n + 1;
    }
    return count;
}
/* Goes on in a new process after a fault. */
static void all(int (*some)(int, int), int count) {
    for (int first = 0; first < count;) {
        int ends[2];
        fflush(stdout);
        if (pipe(ends)) return;
        if (!fork()) {
            if (start()) _exit(1);
            first = some(first, count);
            if (write(ends[1], &first, sizeof first) < 0) _exit(1);
            fflush(stdout);
            _exit(0);
        }
        close(ends[1]);
        if (read(ends[0], &first, sizeof first) != sizeof first) return;
        close(ends[0]);
        wait(0);
    }
}
static void fault(const char *what, int k, Tensor t, u32 offset, u32 expect, int change) {
    fflush(stdout);
    if (!fork()) {
        if (start()) _exit(1);
        _Alignas(64) unsigned char map[128];
        int at[5] = {0};
        t.address += data;
        unsigned code = encode(map, &t);
        if (change == 1) memset(map, 0, 128);
        if (change == 2) memset(map, 0xff, 128);
        if (change == 3) map[8] ^= 0x10;
        if (change == 4) map[8] &= 0x8f;
        if (change == 5) *(u64 *)map = 0x10000;
        if (change == 6) *(u64 *)map = data + 16 + 8;
        if (change == 7) map[64] = 1;
        if (change == 8) memset(map + 64, 0, 64);
        if (change == 9) at[0] = 1;
        if (change > 9) map_at = from + (u64)change, DO("cuMemcpyHtoD_v2", map_at, map, 128);
        printf("fault %s: %u,", what, code);
        printf(" %u,", launch(k, map, at, offset, expect, k > 5 ? from : 0));
        DO("cuMemcpyDtoH_v2", result, out, 4);
        printf(" late %u\n", *(u32 *)result);
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    wait(&status);
    if (status) printf("status %d\n", status);
}

/* Each function of reductions with each type; a quarter of those that do not exist. */
static int reductions(int first, int count) {
    for (int n = first; n < count; n++) {
        int f = n / 13, type = n % 13;
        if (!(VALID[f] >> type & 1) && n % 4) continue;
        Tensor t = {.type = type, .rank = 2, .address = data, .dims = {30, 20}, .strides = {256},
                    .box = {16, 8}, .steps = {1, 1, 1, 1, 1}};
        _Alignas(64) unsigned char map[128];
        int at[5] = {(int)(16 / SIZE[type]), 14};
        seed = 12345 + 100 * f + type;
        fill(type);
        for (u32 i = 0; i < SHARED; i++) result[i] = (unsigned char)draw(256);
        DO("cuMemcpyHtoD_v2", from, result, SHARED);
        unsigned code = encode(map, &t);
        printf("reduction %d of %d: %u,", f, type, code);
        code = launch(12 + 5 * f, map, at, 0, 0, from);
        DO("cuMemcpyDtoH_v2", host, data, BYTES);
        printf(" %u, %08x\n", code, checksum(host, BYTES));
        fflush(stdout);
        if (code) return n + 1;
    }
    return count;
}
/* Maps that the driver makes or refuses. */
static void maps(void) {
    const Tensor base = {.type = 7,
                         .rank = 5,
                         .address = 0x7f0000001000,
                         .dims = {64, 32, 16, 8, 4},
                         .strides = {256, 8192, 131072, 1048576},
                         .box = {8, 4, 2, 2, 1},
                         .steps = {1, 1, 1, 1, 1}};
    _Alignas(64) unsigned char map[128];
    Tensor t = base;
#define MAP(what, ...) t = base, __VA_ARGS__, one(what, &t)
    printf("before init: %u\n", encode(map, &t));
    DO("cuInit", 0);
    printf("no context: %u\n", encode(map, &t));
    if (start()) return;
    one("base", &base);
    for (int i = -1; i < 17; i++) MAP("type", t.type = i);
    for (u32 i = 0; i < 8; i++) MAP("rank", t.rank = i);
    for (int i = 0; i < 64; i += i % 8 == 4 ? 1 : 3) MAP("address", t.address = 1ull << i);
    MAP("address 0", t.address = 0);
    for (int d = 0; d < 5; d++) {
        for (int i = 0; i < 34; i += 11) {
            MAP("size", t.dims[d] = 1ull << i);
            MAP("less", t.dims[d] = (1ull << i) - 1);
        }
        for (int i = 0; i < 4; i++) MAP("box", t.box[d] = (u32[]){0, 12, 256, 257}[i]);
        for (u32 i = 0; i < 10; i += 3) MAP("step", t.steps[d] = i);
        if (d < 4)
            for (int i = 0; i < 6; i++) {
                const u64 strides[6] = {0, 8, 16, 272, (1ull << 40) - 16, 1ull << 40};
                MAP("stride", t.strides[d] = strides[i]);
            }
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            for (u32 box = 4; box <= 36; box += 8)
                MAP("layout", (t.interleave = i, t.swizzle = j, t.box[0] = box));
    for (int i = 0; i < 6; i++) MAP("promotion", t.promotion = i);
    for (int i = 0; i < 3; i++)
        for (int type = 5; type < 13; type++) MAP("fill", (t.fill = i, t.type = type));
    for (int i = 0; i < 3; i++) {
        MAP("interleaved at 16", (t.interleave = i, t.address += 16));
        MAP("interleaved by 272", (t.interleave = i, t.strides[0] += 16));
        MAP("interleaved rank 2", (t.interleave = i, t.rank = 2));
    }
    MAP("228 KB", (t.type = 0, t.box[0] = 16, t.box[1] = 228, t.box[2] = 64, t.box[3] = 1));
    MAP("more", (t.type = 0, t.box[0] = 16, t.box[1] = 229, t.box[2] = 64, t.box[3] = 1));
    for (int i = 0; i < 6; i++) {
        void *lists[6] = {map, (void *)base.dims, (void *)base.strides, (void *)base.box,
                          (void *)base.steps};
        lists[i] = 0;
        printf("list %d: %u\n", i,
               DO("cuTensorMapEncodeTiled", lists[0], 7, 1 + i % 2, base.address, lists[1],
                  lists[2], lists[3], lists[4], 0, 0, 0, 0));
    }
    encode(map, &base);
    for (int i = 0; i < 64; i += 3) {
        unsigned code = DO("cuTensorMapReplaceAddress", map, 1ull << i);
        printf("replace %d: %u, %08x\n", i, code, code ? 0 : checksum(map, 128));
    }
}

int main(void) {
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) return puts(dlerror()), 1;
    setvbuf(stdout, 0, _IOLBF, 4096);
    if (!fork()) {
        maps();
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    Tensor plain = {.type = 7, .rank = 2, .address = 0, .dims = {64, 64}, .strides = {256},
                    .box = {8, 8}, .steps = {1, 1, 1, 1, 1}};
    fault("none", 2, plain, 0, 256, 0);
    fault("shared at 16", 2, plain, 16, 256, 0);
    fault("shared at 64", 2, plain, 64, 256, 0);
    fault("shared at 128", 2, plain, 128, 256, 0);
    fault("shared at 4", 2, plain, 4, 256, 0);
    fault("store at 16", 7, plain, 16, 256, 0);
    fault("store at 64", 7, plain, 64, 256, 0);
    fault("store at 4", 7, plain, 4, 256, 0);
    fault("map in memory", 2, plain, 0, 256, 64);
    fault("map at 32", 2, plain, 0, 256, 32);
    fault("map at 16", 2, plain, 0, 256, 16);
    fault("map at 68", 2, plain, 0, 256, 68);
    fault("other rank", 1, plain, 0, 256, 0);
    fault("rank 3", 3, plain, 0, 256, 0);
    fault("map of zeros", 2, plain, 0, 256, 1);
    fault("map of ones", 2, plain, 0, 256, 2);
    fault("map of rank 1", 2, plain, 0, 256, 4);
    fault("unmapped", 2, plain, 0, 256, 5);
    fault("store unmapped", 7, plain, 0, 256, 5);
    fault("address + 8", 2, plain, 0, 256, 6);
    fault("bytes changed", 2, plain, 0, 256, 7);
    fault("second half zero", 2, plain, 0, 256, 8);
    fault("expect more", 2, plain, 0, 512, 0);
    Tensor past = plain;
    past.address = BYTES - 512;
    fault("past the buffer", 2, past, 0, 256, 0);
    fault("at 4 bytes", 2, plain, 0, 256, 9);
    fault("store at 4 bytes", 7, plain, 0, 256, 9);
    all(reductions, 104);
    all(loads, 240);
    all(stores, 90);
    return 0;
}
