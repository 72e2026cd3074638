/* Captures streams, rightly and by mistake, and prints what the driver answers: codes, states of
 * streams, the graphs that come of it.
 *
 *   cc -o capture_answers capture_answers.c -ldl -lpthread && simt-sim exec -- ./capture_answers
 *
 * capture_answers.txt is what an H200's driver printed (580.159.04, CUDA 13.0, 2026-11-30). */
#include "graph_answers.h"

static void legal_capture(void) {
    void *g = 0, *exec = 0, *deps = 0, *graph = 0, *edges = 0;
    unsigned status = 9, mode = 2;
    u64 id = 0, n = 99;
    ASK("0", "cuStreamBeginCapture_v2", 0, 0);
    ASK("1", "cuStreamBeginCapture_v2", 1, 0);
    ASK("2", "cuStreamBeginCapture_v2", 2, 0);
    ASK("2", "cuStreamEndCapture", 2, &g);
    show(g);
    ASK("mode 7", "cuStreamBeginCapture_v2", s, 7);
    ASK("not captured", "cuStreamEndCapture", s, &g);
    ASK("ok", "cuStreamBeginCapture_v2", s, 0);
    ASK("again", "cuStreamBeginCapture_v2", s, 0);
    ASK("ok", "cuStreamIsCapturing", s, &status);
    printf("%u\n", status);
    ASK("other", "cuStreamIsCapturing", s2, &status);
    printf("%u\n", status);
    ASK("ok", "cuStreamGetCaptureInfo_v2", s, &status, &id, &graph, &deps, &n);
    printf("%u %d %d %d\n", status, id != 0, graph != 0, (int)n);
    ASK("ok", "cuLaunchKernel", store, 1, 1, 1, 1, 1, 1, 0, s, arguments, 0);
    ASK("ok", "cuMemsetD32Async", p + 64, 3, 8, s);
    ASK("fork", "cuEventRecord", ev, s);
    ASK("fork", "cuStreamWaitEvent", s2, ev, 0);
    ASK("other", "cuStreamIsCapturing", s2, &status);
    printf("%u\n", status);
    ASK("ok", "cuLaunchKernel", twice, 1, 1, 1, 1, 1, 1, 0, s2, arguments, 0);
    ASK("pageable", "cuMemcpyDtoHAsync_v2", host, p + 64, 32, s);
    ASK("ok", "cuLaunchHostFunc", s, say, "captured");
    ASK("join", "cuEventRecord", ev2, s2);
    ASK("join", "cuStreamWaitEvent", s, ev2, 0);
    ASK("ok", "cuStreamGetCaptureInfo_v3", s, &status, &id, &graph, &deps, &edges, &n);
    printf("%u %d %d\n", status, edges != 0, (int)n);
    ASK("ok", "cuLaunchKernel", twice, 1, 1, 1, 1, 1, 1, 0, s, arguments, 0);
    ASK("type", "cuMemsetD2D8Async", p + 512, 64, 1, 8, 3, s);
    ASK("none", "cuMemsetD8Async", p + 512, 1, 0, s);
    ASK("none", "cuMemcpyHtoDAsync_v2", p + 512, host, 0, s);
    ASK("external", "cuEventRecordWithFlags", ev, s, 1);
    ASK("external", "cuStreamWaitEvent", s, ev, 1);
    ASK("ok", "cuStreamUpdateCaptureDependencies", s, 0, 0, 1);
    ASK("ok", "cuLaunchKernel", store, 1, 1, 1, 1, 1, 1, 0, s, arguments, 0);
    ASK("flags 7", "cuStreamUpdateCaptureDependencies", s, 0, 0, 7);
    ASK("not captured", "cuStreamUpdateCaptureDependencies", free_stream, 0, 0, 0);
    ASK("leaf elsewhere", "cuStreamEndCapture", s, &g);
    show(g);
    if (!g) return;
    ASK("ok", "cuGraphInstantiateWithFlags", &exec, g, 0);
    ASK("ok", "cuGraphLaunch", exec, s);
    DO("cuStreamSynchronize", s), hear();
    printf("%u %u\n", host[0], host[7]);
    ASK("relaxed", "cuStreamBeginCapture_v2", s, 2);
    ASK("relaxed", "cuMemAlloc_v2", &id, 16);
    ASK("child", "cuGraphLaunch", exec, s);
    ASK("ok", "cuGraphUpload", exec, s);
    ASK("ok", "cuStreamEndCapture", s, &g);
    show(g);
    ASK("ok", "cuThreadExchangeStreamCaptureMode", &mode);
    printf("%u\n", mode);
    mode = 9;
    ASK("9", "cuThreadExchangeStreamCaptureMode", &mode);
    ASK("ok", "cuStreamBeginCapture_v2", s, 0);
    ASK("after exchange", "cuMemAlloc_v2", &id, 16);
    ASK("ok", "cuStreamEndCapture", s, &g);
    mode = 0;
    DO("cuThreadExchangeStreamCaptureMode", &mode);
    DO("cuGraphCreate", &g, 0);
    void *node = 0, *back = 0;
    DO("cuGraphAddEmptyNode", &node, g, 0, 0);
    list[0] = node;
    ASK("ok", "cuStreamBeginCaptureToGraph", s, g, list, 0, 1, 0);
    ASK("ok", "cuLaunchKernel", twice, 1, 1, 1, 1, 1, 1, 0, s, arguments, 0);
    ASK("ok", "cuStreamEndCapture", s, &back);
    printf("%d\n", back == g);
    show(g);
}

static void *of_thread(void *what) {
    u64 q;
    DO("cuCtxSetCurrent", ctx);
    if (what) ASK("in another thread", "cuStreamEndCapture", s, list);
    else ASK("in another thread", "cuMemAlloc_v2", &q, 16);
    return 0;
}
static void on_thread(void *what) {
    pthread_t thread;
    pthread_create(&thread, 0, of_thread, what);
    pthread_join(thread, 0);
}
static void callback(void *a, unsigned b, void *c) {}

static void illegal_capture(void) {
    void *x = 0, *y = 0;
    u64 q = 0;
    float ms;
    begin(), ASK("captured", "cuStreamSynchronize", s);
    ASK("after", "cuLaunchKernel", store, 1, 1, 1, 1, 1, 1, 0, s, arguments, 0), end();
    begin(), ASK("captured", "cuStreamQuery", s), end();
    begin(), ASK("other stream", "cuStreamSynchronize", s2), end();
    begin(), ASK("free stream", "cuStreamSynchronize", free_stream), end();
    begin(), ASK("free stream", "cuStreamQuery", free_stream), end();
    begin(), ASK("stream 0", "cuStreamSynchronize", 0), end();
    begin(), ASK("all", "cuCtxSynchronize", 0), end();
    begin(), ASK("all", "cuMemAlloc_v2", &q, 16), end();
    DO("cuMemAlloc_v2", &q, 16);
    begin(), ASK("all", "cuMemFree_v2", q), end();
    begin(), ASK("all", "cuMemHostAlloc", &x, 16, 0), end();
    begin(), ASK("sync", "cuMemcpyHtoD_v2", p, host, 16), end();
    begin(), ASK("sync", "cuMemcpyDtoD_v2", p, p + 64, 16), end();
    begin(), ASK("sync", "cuMemsetD8_v2", p, 0, 16), end();
    begin(), ASK("stream 0", "cuMemsetD8Async", p, 0, 16, 0), end();
    begin(), ASK("stream 0", "cuLaunchKernel", twice, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0), end();
    begin(), ASK("free", "cuLaunchKernel", twice, 1, 1, 1, 1, 1, 1, 0, free_stream, arguments, 0),
        end();
    DO("cuStreamBeginCapture_v2", free_stream, 0);
    ASK("stream 0, free capture", "cuLaunchKernel", twice, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0);
    ASK("ok", "cuStreamEndCapture", free_stream, &x);
    begin(), ASK("captured", "cuStreamAddCallback", s, callback, 0, 0), end();
    begin(), ASK("new", "cuStreamCreate", &x, 0), end();
    begin(), ASK("new", "cuEventCreate", &x, 0), end();
    begin(), ASK("new", "cuModuleLoadData", &x, PTX), end();
    begin(), ASK("captured", "cuEventRecord", ev, s), ASK("captured", "cuEventQuery", ev), end();
    begin(), DO("cuEventRecord", ev, s), ASK("captured", "cuEventSynchronize", ev), end();
    ASK("afterwards", "cuEventQuery", ev);
    ASK("afterwards", "cuEventSynchronize", ev);
    ASK("afterwards", "cuStreamWaitEvent", s2, ev, 0);
    DO("cuEventRecord", ev, s2);
    begin(), ASK("not captured", "cuStreamWaitEvent", s, ev, 0), end();
    begin(), DO("cuEventRecord", ev, s), DO("cuStreamWaitEvent", s2, ev, 0);
    ASK("joined stream", "cuStreamEndCapture", s2, &x), end();
    begin(), DO("cuEventRecord", ev, s), DO("cuStreamWaitEvent", s2, ev, 0), end();
    begin(), DO("cuEventRecord", ev, s), DO("cuStreamWaitEvent", s2, ev, 0);
    DO("cuLaunchKernel", store, 1, 1, 1, 1, 1, 1, 0, s2, arguments, 0), end();
    ASK("after unjoined", "cuLaunchKernel", store, 1, 1, 1, 1, 1, 1, 0, s2, arguments, 0);
    begin(), DO("cuStreamBeginCapture_v2", s2, 0), DO("cuEventRecord", ev, s);
    ASK("two captures", "cuStreamWaitEvent", s2, ev, 0);
    ASK("second", "cuStreamEndCapture", s2, &x), end();
    begin(), on_thread(0), end();
    DO("cuStreamBeginCapture_v2", s, 1), on_thread(0), end();
    begin(), on_thread(""), end();
    DO("cuStreamBeginCapture_v2", s, 2), on_thread(""), end();
    DO("cuStreamCreate", &x, 0), DO("cuStreamBeginCapture_v2", x, 0);
    ASK("captured", "cuStreamDestroy_v2", x);
    begin(), ASK("captured", "cuEventElapsedTime", &ms, ev, ev2), end();
    begin(), ASK("captured", "cuMemPrefetchAsync_v2", p, 16, 1, 0, s), end();
    begin(), ASK("captured", "cuStreamAttachMemAsync", s, p, 0, 4), end();
    begin(), ASK("info", "cuMemGetInfo_v2", &q, &q), end();
    begin(), ASK("grid 0", "cuLaunchKernel", store, 0, 1, 1, 1, 1, 1, 0, s, arguments, 0), end();
    begin(), ASK("bad address", "cuMemsetD8Async", 0, 0, 16, s), end();
    begin(), ASK("null function", "cuLaunchHostFunc", s, 0, 0), end();
    begin(), ASK("null", "cuStreamEndCapture", s, 0), end();
    begin(), ASK("legacy wait", "cuStreamWaitEvent", 0, ev2, 0), end();
    begin(), ASK("new graph", "cuGraphCreate", &x, 0), ASK("", "cuGraphDestroy", x), end();
    begin(), ASK("new exec", "cuGraphCreate", &x, 0);
    ASK("in capture", "cuGraphInstantiateWithFlags", &y, x, 0), end();
}

static unsigned codes[3];
static void calls_back(void *unused) {
    u64 n = 0, q = 0;
    codes[0] = DO("cuMemGetInfo_v2", &n, &n);
    codes[1] = DO("cuMemAlloc_v2", &q, 16);
    codes[2] = DO("cuStreamQuery", s);
}

static void more(void) {
    void *g = 0, *n[4] = {0}, *exec = 0, *x = 0, *inner = 0, *g2 = 0, *event = 0;
    u64 q = 0, count = 8, id = 77;
    unsigned status = 9;
    Host call = {calls_back, 0};
    Kernel k = kernel(store), k2 = kernel(twice);
    begin(), ASK("not captured", "cuMemAllocAsync", &q, 16, free_stream);
    ASK("not captured", "cuMemFreeAsync", q, free_stream), end();
    begin(), ASK("not captured", "cuMemsetD8Async", p + 64, 1, 16, free_stream), end();
    DO("cuEventCreate", &event, 2);
    begin(), ASK("never recorded", "cuStreamWaitEvent", s, event, 0), end();
    DO("cuEventRecord", event, free_stream);
    begin(), ASK("of others", "cuEventQuery", event), end();
    begin(), ASK("of others", "cuEventSynchronize", event), end();
    DO("cuStreamBeginCapture_v2", s, 2), ASK("relaxed", "cuCtxSynchronize", 0), end();
    DO("cuStreamBeginCapture_v2", s, 2), ASK("relaxed", "cuStreamSynchronize", s2), end();
    DO("cuStreamBeginCapture_v2", s, 2), ASK("relaxed", "cuMemcpyHtoD_v2", p, host, 4), end();
    DO("cuStreamBeginCapture_v2", free_stream, 0);
    ASK("free capture", "cuMemcpyHtoD_v2", p, host, 4);
    ASK("free capture", "cuStreamEndCapture", free_stream, &x);
    DO("cuStreamBeginCapture_v2", free_stream, 2);
    ASK("free, relaxed", "cuMemcpyHtoD_v2", p, host, 4);
    ASK("free, relaxed", "cuStreamEndCapture", free_stream, &x);
    begin(), ASK("stream 0", "cuStreamIsCapturing", 0, &status), end();
    begin(), ASK("stream 0", "cuEventRecord", event, 0), end();
    begin(), ASK("invalid", "cuStreamQuery", s);
    ASK("invalid", "cuStreamGetCaptureInfo_v2", s, &status, &id, &g, 0, &count);
    printf("%u %d\n", status, id != 77);
    ASK("invalid", "cuEventRecord", event, s);
    ASK("invalid", "cuStreamWaitEvent", s2, event, 0), end();
    begin(), ASK("pitch 4", "cuMemsetD2D8Async", p, 4, 0, 8, 2, s), end();
    begin(), ASK("free", "cuMemFreeHost", 0), end();
    begin(), ASK("update", "cuGraphExecUpdate_v2", 0, 0, 0), end();
    /* Annotated edges. */
    unsigned char programmatic[8] = {1, 0, 1}, wrong[8] = {0, 0, 9}, found[64] = {0};
    DO("cuGraphCreate", &g, 0);
    DO("cuGraphAddKernelNode_v2", &n[0], g, 0, 0, &k);
    DO("cuGraphAddKernelNode_v2", &n[1], g, 0, 0, &k2);
    ASK("type 9", "cuGraphAddDependencies_v2", g, n, n + 1, wrong, 1);
    ASK("programmatic", "cuGraphAddDependencies_v2", g, n, n + 1, programmatic, 1);
    ASK("without data", "cuGraphGetEdges", g, list, other, &count);
    count = 8;
    ASK("null data", "cuGraphGetEdges_v2", g, list, other, 0, &count);
    count = 8;
    ASK("with data", "cuGraphGetEdges_v2", g, list, other, found, &count);
    printf("%d %d %d\n", (int)count, found[0], found[2]);
    ASK("plain", "cuGraphRemoveDependencies", g, n, n + 1, 1);
    ASK("annotated", "cuGraphRemoveDependencies_v2", g, n, n + 1, programmatic, 1);
    /* Nodes of any type. */
    struct { unsigned type, zero[3]; u64 words[29], last; } any = {3, {0}, {0}, 0};
    memcpy(any.words, &call, sizeof call);
    ASK("host", "cuGraphAddNode_v2", &n[2], g, n + 1, 0, 1, &any);
    any.type = 77;
    ASK("type 77", "cuGraphAddNode_v2", &x, g, 0, 0, 0, &any);
    any.type = 0, memcpy(any.words, &k, sizeof k);
    ASK("kernel", "cuGraphAddNode_v2", &n[3], g, n, 0, 1, &any);
    any.type = 2;
    ASK("other type", "cuGraphNodeSetParams", n[3], &any);
    any.type = 0;
    ASK("ok", "cuGraphNodeSetParams", n[3], &any);
    ASK("ok", "cuGraphInstantiateWithFlags", &exec, g, 0);
    ASK("ok", "cuGraphExecNodeSetParams", exec, n[3], &any);
    ASK("calls back", "cuGraphLaunch", exec, s);
    DO("cuCtxSynchronize", 0);
    printf("cuMemGetInfo_v2, in a node: %u\ncuMemAlloc_v2, in a node: %u\n", codes[0], codes[1]);
    printf("cuStreamQuery, in a node: %u\n", codes[2]);
    unsigned value[16] = {1}, got[16] = {0};
    ASK("cooperative", "cuGraphKernelNodeSetAttribute", n[0], 2, value);
    ASK("cooperative", "cuGraphKernelNodeGetAttribute", n[0], 2, got);
    printf("%u\n", got[0]);
    ASK("copy", "cuGraphKernelNodeCopyAttributes", n[1], n[0]);
    ASK("of a host node", "cuGraphKernelNodeGetAttribute", n[2], 2, got);
    ASK("99", "cuGraphKernelNodeSetAttribute", n[0], 99, value);
    /* A child graph that moves. */
    DO("cuGraphCreate", &g2, 0);
    DO("cuGraphAddEmptyNode", &x, g2, 0, 0);
    memset(any.words, 0, sizeof any.words);
    any.type = 4, any.words[0] = (u64)g2, any.words[1] = 1;
    ASK("moves", "cuGraphAddNode_v2", &x, g, 0, 0, 0, &any);
    DO("cuGraphChildGraphNodeGetGraph", x, &inner);
    printf("%d\n", inner == g2);
    ASK("moved", "cuGraphInstantiateWithFlags", &exec, g2, 0);
    ASK("moved", "cuGraphDestroy", g2);
}

int main(void) {
    const Part parts[] = {{2, legal_capture}, {3, illegal_capture}, {7, more}};
    return run(parts, 3);
}
