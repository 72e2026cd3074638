// A graph of two branches, captured from streams, launched many times, and updated.
//
//   nvcc -o graphs graphs.cu
//   simt-sim exec -- ./graphs
#include <cstdio>
#include <vector>

const int n = 4096;

__global__ void scale(float *data, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] *= by;
}

__global__ void sum(const float *a, const float *b, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += a[i] + b[i];
}

#define CHECK(call)                                                                      \
    if (cudaError_t error = call) {                                                      \
        printf("line %d: %s\n", __LINE__, cudaGetErrorString(error));                    \
        return 1;                                                                        \
    }

// Captures to += 2 a + by b, with a and b scaled on streams of their own.
cudaError_t capture(cudaGraph_t *graph, float *a, float *b, float *to, float by) {
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    scale<<<n / 256, 256, 0, first>>>(a, 2);
    scale<<<n / 256, 256, 0, second>>>(b, by);
    cudaEventRecord(join, second);
    cudaStreamWaitEvent(first, join, 0);
    sum<<<n / 256, 256, 0, first>>>(a, b, to);
    return cudaStreamEndCapture(first, graph);
}

int main() {
    std::vector<float> ones(n, 1), result(n);
    float *memory[3];
    for (float *&part : memory) {
        CHECK(cudaMalloc(&part, n * sizeof(float)));
        CHECK(cudaMemcpy(part, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    }
    cudaGraph_t graph, other;
    CHECK(capture(&graph, memory[0], memory[1], memory[2], 3));
    size_t nodes = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
    printf("%zu nodes, %zu edges\n", nodes, edges);

    // 1 + (2 + 3) + (4 + 9) + (8 + 27)
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(result.data(), memory[2], n * sizeof(float), cudaMemcpyDeviceToHost));
    printf("after three launches: %g, %g\n", result[0], result[n - 1]);

    // A graph that was captured alike: 54 + (16 + 27 * 10)
    CHECK(capture(&other, memory[0], memory[1], memory[2], 10));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, other, &info));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(result.data(), memory[2], n * sizeof(float), cudaMemcpyDeviceToHost));
    printf("after the update: %g, %g\n", result[0], result[n - 1]);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return 0;
}
