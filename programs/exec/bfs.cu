// Breadth-first search: the host launches a level, reads a flag, and goes on until a level is empty.
//
//   nvcc -o bfs bfs.cu
//   simt-sim exec --metrics warp_execution_efficiency -- ./bfs
//
// Rows of the launch table show how the efficiency follows the size of the frontier.
#include <cstdio>
#include <queue>
#include <vector>
#include <cuda_runtime.h>

__global__ void level(const int *offsets, const int *edges, int *distance, int n, int depth,
                      int *changed)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || distance[node] != depth)
        return;
    for (int e = offsets[node]; e < offsets[node + 1]; e++) {
        int next = edges[e];
        if (distance[next] < 0) {
            distance[next] = depth + 1; // several lanes may write the same value
            *changed = 1;
        }
    }
}

int main()
{
    const int n = 2000;
    std::vector<int> offsets(n + 1), edges;
    unsigned int state = 1;
    for (int node = 0; node < n; node++) {
        offsets[node] = (int)edges.size();
        state = state * 1664525u + 1013904223u;
        int degree = 1 + (state >> 24) % 6;
        for (int i = 0; i < degree; i++) {
            state = state * 1664525u + 1013904223u;
            edges.push_back((state >> 8) % n);
        }
    }
    offsets[n] = (int)edges.size();

    std::vector<int> expected(n, -1);
    std::queue<int> queue;
    expected[0] = 0;
    queue.push(0);
    while (!queue.empty()) {
        int node = queue.front();
        queue.pop();
        for (int e = offsets[node]; e < offsets[node + 1]; e++)
            if (expected[edges[e]] < 0) {
                expected[edges[e]] = expected[node] + 1;
                queue.push(edges[e]);
            }
    }

    int *d_offsets, *d_edges, *d_distance, *d_changed;
    cudaMalloc(&d_offsets, (n + 1) * sizeof(int));
    cudaMalloc(&d_edges, edges.size() * sizeof(int));
    cudaMalloc(&d_distance, n * sizeof(int));
    cudaMalloc(&d_changed, sizeof(int));
    cudaMemcpy(d_offsets, offsets.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_distance, 0xff, n * sizeof(int));
    cudaMemset(d_distance, 0, sizeof(int));

    int depth = 0, changed;
    do {
        changed = 0;
        cudaMemcpy(d_changed, &changed, sizeof(int), cudaMemcpyHostToDevice);
        level<<<(n + 255) / 256, 256>>>(d_offsets, d_edges, d_distance, n, depth, d_changed);
        cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost);
        depth++;
    } while (changed);

    std::vector<int> distance(n);
    cudaMemcpy(distance.data(), d_distance, n * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0, reached = 0;
    for (int node = 0; node < n; node++) {
        wrong += distance[node] != expected[node];
        reached += distance[node] >= 0;
    }
    std::printf("%zu edges, %d levels, %d of %d nodes reached, %d wrong: %s\n", edges.size(), depth,
                reached, n, wrong, cudaGetErrorName(cudaGetLastError()));
    return wrong != 0;
}
