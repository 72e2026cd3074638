// Textures and surfaces: an array filtered by a texture object, written by a surface object, layers,
// and linear memory fetched by index. Each result is compared with the host's.
//
//   nvcc -o textures textures.cu
//   simt-sim exec --metrics tex_cache_requests,tex_cache_transactions -- ./textures
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define WIDTH 60
#define HEIGHT 40
#define LAYERS 3

// Enlarges by four; the filter weighs with eighths, which are exact.
__global__ void enlarge(cudaTextureObject_t image, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 4 * WIDTH && y < 4 * HEIGHT)
        out[y * 4 * WIDTH + x] = tex2D<float>(image, (x + 0.5f) / 4, (y + 0.5f) / 4);
}

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float value;
    surf2Dread(&value, from, x * sizeof(float), y, cudaBoundaryModeZero);
    if (x < WIDTH && y < HEIGHT)
        surf2Dwrite(value, to, y * sizeof(float), x);
}

__global__ void layers(cudaTextureObject_t image, uchar4 *out)
{
    int x = threadIdx.x;
    out[blockIdx.x * blockDim.x + x] = tex2DLayered<uchar4>(image, x, 1, blockIdx.x);
}

__global__ void reverse(cudaTextureObject_t data, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<int>(data, n - 1 - i);
}

static cudaTextureObject_t texture(const cudaResourceDesc &resource, cudaTextureFilterMode filter)
{
    cudaTextureDesc sampler = {};
    sampler.addressMode[0] = sampler.addressMode[1] = cudaAddressModeClamp;
    sampler.filterMode = filter;
    sampler.readMode = cudaReadModeElementType;
    cudaTextureObject_t object = 0;
    cudaCreateTextureObject(&object, &resource, &sampler, nullptr);
    return object;
}

static cudaResourceDesc of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static float clamped(const std::vector<float> &data, int x, int y)
{
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    return data[y * WIDTH + x];
}

int main()
{
    std::vector<float> data(WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        data[i] = float(i * 37 % 256);
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaArray_t array, turned;
    cudaMallocArray(&array, &channel, WIDTH, HEIGHT, cudaArraySurfaceLoadStore);
    cudaMallocArray(&turned, &channel, HEIGHT, WIDTH, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array, 0, 0, data.data(), WIDTH * 4, WIDTH * 4, HEIGHT,
                        cudaMemcpyHostToDevice);

    float *large;
    cudaMalloc(&large, 16 * WIDTH * HEIGHT * sizeof(float));
    cudaTextureObject_t image = texture(of(array), cudaFilterModeLinear);
    enlarge<<<dim3(WIDTH / 4, HEIGHT / 4), dim3(16, 16)>>>(image, large);
    std::vector<float> enlarged(16 * WIDTH * HEIGHT);
    cudaMemcpy(enlarged.data(), large, enlarged.size() * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < 4 * HEIGHT; y++)
        for (int x = 0; x < 4 * WIDTH; x++) {
            int left = (x + 2) / 4 - 1, top = (y + 2) / 4 - 1;
            float a = ((x + 2) % 4 + 0.5f) / 4, b = ((y + 2) % 4 + 0.5f) / 4;
            float expected = (1 - a) * (1 - b) * clamped(data, left, top)
                             + a * (1 - b) * clamped(data, left + 1, top)
                             + (1 - a) * b * clamped(data, left, top + 1)
                             + a * b * clamped(data, left + 1, top + 1);
            wrong += enlarged[y * 4 * WIDTH + x] != expected;
        }
    printf("enlarged: %s, %d pixels wrong\n", cudaGetErrorString(cudaGetLastError()), wrong);

    cudaSurfaceObject_t from = 0, to = 0;
    cudaResourceDesc source = of(array), target = of(turned);
    cudaCreateSurfaceObject(&from, &source);
    cudaCreateSurfaceObject(&to, &target);
    transpose<<<dim3(4, 3), dim3(16, 16)>>>(from, to);
    std::vector<float> columns(WIDTH * HEIGHT);
    cudaMemcpy2DFromArray(columns.data(), HEIGHT * 4, turned, 0, 0, HEIGHT * 4, WIDTH,
                          cudaMemcpyDeviceToHost);
    wrong = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        wrong += columns[i] != data[i % HEIGHT * WIDTH + i / HEIGHT];
    printf("transposed: %s, %d pixels wrong\n", cudaGetErrorString(cudaGetLastError()), wrong);

    std::vector<uchar4> colours(8 * 2 * LAYERS);
    for (int i = 0; i < 8 * 2 * LAYERS; i++)
        colours[i] = make_uchar4(i, 2 * i, 3 * i, 255 - i);
    cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
    cudaArray_t stack;
    cudaMalloc3DArray(&stack, &four, make_cudaExtent(8, 2, LAYERS), cudaArrayLayered);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(colours.data(), 8 * sizeof(uchar4), 8, 2);
    copy.dstArray = stack;
    copy.extent = make_cudaExtent(8, 2, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaTextureObject_t pages = texture(of(stack), cudaFilterModePoint);
    uchar4 *rows;
    cudaMalloc(&rows, 8 * LAYERS * sizeof(uchar4));
    layers<<<LAYERS, 8>>>(pages, rows);
    std::vector<uchar4> fetched(8 * LAYERS);
    cudaMemcpy(fetched.data(), rows, fetched.size() * 4, cudaMemcpyDeviceToHost);
    wrong = 0;
    for (int i = 0; i < 8 * LAYERS; i++)
        wrong += memcmp(&fetched[i], &colours[i / 8 * 16 + 8 + i % 8], 4) != 0;
    printf("layers: %s, %d texels wrong\n", cudaGetErrorString(cudaGetLastError()), wrong);

    const int n = 1000;
    std::vector<int> numbers(n), backwards(n);
    for (int i = 0; i < n; i++)
        numbers[i] = i * i;
    int *linear, *out;
    cudaMalloc(&linear, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMemcpy(linear, numbers.data(), n * 4, cudaMemcpyHostToDevice);
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = linear;
    memory.res.linear.desc = cudaCreateChannelDesc<int>();
    memory.res.linear.sizeInBytes = n * 4;
    cudaTextureObject_t list = texture(memory, cudaFilterModePoint);
    reverse<<<8, 128>>>(list, out, n);
    cudaMemcpy(backwards.data(), out, n * 4, cudaMemcpyDeviceToHost);
    wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += backwards[i] != numbers[n - 1 - i];
    printf("reversed: %s, %d numbers wrong\n", cudaGetErrorString(cudaGetLastError()), wrong);

    cudaResourceDesc found = {};
    cudaTextureDesc how = {};
    cudaGetTextureObjectResourceDesc(&found, list);
    cudaGetTextureObjectTextureDesc(&how, image);
    bool same = found.resType == cudaResourceTypeLinear && found.res.linear.devPtr == linear &&
                found.res.linear.sizeInBytes == n * 4 && found.res.linear.desc.x == 32 &&
                found.res.linear.desc.f == cudaChannelFormatKindSigned;
    cudaGetSurfaceObjectResourceDesc(&found, from);
    same = same && found.resType == cudaResourceTypeArray && found.res.array.array == array &&
           how.filterMode == cudaFilterModeLinear;
    printf("descriptions: %s, %s\n", cudaGetErrorString(cudaGetLastError()),
           same ? "as given" : "others");

    cudaDestroyTextureObject(image);
    cudaDestroySurfaceObject(from);
    cudaFreeArray(array);
    cudaMemcpy2DToArray(array, 0, 0, data.data(), 240, 240, 40, cudaMemcpyHostToDevice);
    printf("a freed array: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
