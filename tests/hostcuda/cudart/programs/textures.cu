// Arrays, textures and surfaces, against the formulas of the CUDA programming guide.
#include <cuda_runtime.h>

#include <cmath>
#include <vector>

#include "check.hpp"

constexpr int width = 7;
constexpr int height = 5;

__global__ void sample_2d(cudaTextureObject_t texture, const float2* places, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(texture, places[i].x, places[i].y);
}

__global__ void sample_colors(cudaTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);
}

__global__ void sample_bytes(cudaTextureObject_t texture, uchar4* out) {
  out[threadIdx.x] = tex2D<uchar4>(texture, threadIdx.x + 0.5f, 0.5f);
}

__global__ void fetch_1d(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, int(threadIdx.x) - 2);
}

__global__ void sample_3d(cudaTextureObject_t texture, float* out) {
  const int i = threadIdx.x;
  out[i] = tex3D<float>(texture, i % 2 + 0.5f, i / 2 % 2 + 0.5f, i / 4 + 0.5f);
  out[8 + i] = tex3D<float>(texture, 1.0f, 1.0f, 1.0f);
}

__global__ void sample_layers(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 1.5f, 0.5f, threadIdx.x);
}

__global__ void sample_cube(cudaTextureObject_t texture, float* out) {
  const float directions[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                  {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  const float* d = directions[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(texture, d[0], d[1], d[2]);
}

__global__ void gather(cudaTextureObject_t texture, float4* out) {
  *out = tex2Dgather<float4>(texture, 2.0f, 3.0f, 0);
}

// Whether a number is a texture object, a sampler or a surface object, as bits 0 to 2.
__device__ int what_is(unsigned long long object) {
  int texture, sampler, surface;
  asm("{ .reg .pred p; istypep.texref p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(texture) : "l"(object));
  asm("{ .reg .pred p; istypep.samplerref p, %1; selp.s32 %0, 2, 0, p; }"
      : "=r"(sampler)
      : "l"(object));
  asm("{ .reg .pred p; istypep.surfref p, %1; selp.s32 %0, 4, 0, p; }" : "=r"(surface) : "l"(object));
  return texture + sampler + surface;
}

// What the object says of itself; width and height in turn, and what it is and what 7 is.
__global__ void ask_texture(cudaTextureObject_t texture, int* out) {
  asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(texture));
  asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(texture));
  out[2] = what_is(texture);
  out[3] = what_is(7);
}

__global__ void ask_surface(cudaSurfaceObject_t surface, int* out) {
  asm("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(surface));
  asm("suq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(surface));
  out[2] = what_is(surface);
}

__global__ void write_surface(cudaSurfaceObject_t surface) {
  surf2Dwrite(float(10 * threadIdx.y + threadIdx.x), surface, threadIdx.x * sizeof(float),
              threadIdx.y);
}

__global__ void read_surface(cudaSurfaceObject_t surface, float* out) {
  float value;
  surf2Dread(&value, surface, threadIdx.x * sizeof(float), threadIdx.y);
  out[threadIdx.y * width + threadIdx.x] = value;
  if (threadIdx.x + threadIdx.y == 0) {
    surf2Dread(&value, surface, -4, 0, cudaBoundaryModeClamp);
    out[width * height] = value;
    surf2Dread(&value, surface, 4 * width, 0, cudaBoundaryModeZero);
    out[width * height + 1] = value;
  }
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

template <class T>
std::vector<T> on_host(const T* memory, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureDesc sampling) {
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &resource, &sampling, nullptr));
  return object;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureDesc sampling(cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                         bool normalized) {
  cudaTextureDesc description = {};
  for (cudaTextureAddressMode& axis : description.addressMode)
    axis = mode;
  description.filterMode = filter;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = normalized;
  return description;
}

// The reference, written from the programming guide.
int index_of(int i, int n, cudaTextureAddressMode mode) {
  if (mode == cudaAddressModeWrap) return ((i % n) + n) % n;
  if (mode == cudaAddressModeMirror) {
    const int turn = ((i % (2 * n)) + 2 * n) % (2 * n);
    return turn < n ? turn : 2 * n - 1 - turn;
  }
  if (mode == cudaAddressModeClamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
  return i < 0 || i >= n ? -1 : i;
}

float texel(const std::vector<float>& image, int x, int y, cudaTextureAddressMode mode) {
  const int i = index_of(x, width, mode);
  const int j = index_of(y, height, mode);
  return i < 0 || j < 0 ? 0.0f : image[j * width + i];
}

float reference(const std::vector<float>& image, float2 place, const cudaTextureDesc& how) {
  cudaTextureAddressMode mode = how.addressMode[0];
  if (!how.normalizedCoords && mode != cudaAddressModeBorder) mode = cudaAddressModeClamp;
  float x = how.normalizedCoords ? place.x * width : place.x;
  float y = how.normalizedCoords ? place.y * height : place.y;
  if (how.filterMode == cudaFilterModePoint) {
    return texel(image, int(std::floor(x)), int(std::floor(y)), mode);
  }
  x -= 0.5f;
  y -= 0.5f;
  const int i = int(std::floor(x));
  const int j = int(std::floor(y));
  const float a = std::floor((x - i) * 256 + 0.5f) / 256;
  const float b = std::floor((y - j) * 256 + 0.5f) / 256;
  return (1 - a) * (1 - b) * texel(image, i, j, mode) + a * (1 - b) * texel(image, i + 1, j, mode) +
         (1 - a) * b * texel(image, i, j + 1, mode) + a * b * texel(image, i + 1, j + 1, mode);
}

std::vector<float> make_image() {
  std::vector<float> image(width * height);
  for (int i = 0; i < width * height; ++i)
    image[i] = float(i * i % 23) - 4;
  return image;
}

void check_every_mode(const cudaResourceDesc& resource, const std::vector<float>& image) {
  for (bool normalized : {false, true}) {
    std::vector<float2> places;
    for (float y = -7.3f; y < 13; y += 0.83f) {
      for (float x = -9.1f; x < 17; x += 0.71f) {
        places.push_back(normalized ? make_float2(x / width, y / height) : make_float2(x, y));
      }
    }
    const int n = int(places.size());
    float2* device_places = on_device(places);
    float* out = on_device(std::vector<float>(n));
    for (cudaTextureAddressMode mode : {cudaAddressModeWrap, cudaAddressModeClamp,
                                        cudaAddressModeMirror, cudaAddressModeBorder}) {
      for (cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        const cudaTextureDesc how = sampling(mode, filter, normalized);
        const cudaTextureObject_t texture = texture_of(resource, how);
        sample_2d<<<(n + 63) / 64, 64>>>(texture, device_places, out, n);
        const std::vector<float> got = on_host(out, n);
        for (int i = 0; i < n; ++i) {
          EXPECT(std::fabs(got[i] - reference(image, places[i], how)) <= 1e-5f * 23);
        }
        CHECK(cudaDestroyTextureObject(texture));
      }
    }
    CHECK(cudaFree(device_places));
    CHECK(cudaFree(out));
  }
}

void check_arrays_of_two_dimensions() {
  const std::vector<float> image = make_image();
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &channel, width, height, cudaArrayTextureGather));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float),
                            width * sizeof(float), height, cudaMemcpyHostToDevice));
  check_every_mode(resource_of(array), image);

  float4* gathered = on_device(std::vector<float4>(1));
  const cudaTextureObject_t texture = texture_of(
      resource_of(array), sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
  gather<<<1, 1>>>(texture, gathered);
  const float4 four = on_host(gathered, 1)[0];
  EXPECT(four.x == image[3 * width + 1] && four.y == image[3 * width + 2]);
  EXPECT(four.z == image[2 * width + 2] && four.w == image[2 * width + 1]);
  int* sizes = on_device(std::vector<int>(4));
  ask_texture<<<1, 1>>>(texture, sizes);
  const std::vector<int> of_texture = on_host(sizes, 4);
  EXPECT(of_texture[0] == width && of_texture[1] == height);
  EXPECT(of_texture[2] == 1 && of_texture[3] == 0);

  cudaExtent extent;
  cudaChannelFormatDesc known;
  unsigned flags = 0;
  CHECK(cudaArrayGetInfo(&known, &extent, &flags, array));
  EXPECT(extent.width == width && extent.height == height && extent.depth == 0);
  EXPECT(known.x == 32 && known.y == 0 && known.f == cudaChannelFormatKindFloat);
  EXPECT(cudaMemcpy2DToArray(array, 4, 0, image.data(), width * sizeof(float),
                             width * sizeof(float), 1,
                             cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  std::vector<float> back(3 * 2);
  CHECK(cudaMemcpy2DFromArray(back.data(), 3 * sizeof(float), array, 2 * sizeof(float), 1,
                              3 * sizeof(float), 2, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 6; ++i)
    EXPECT(back[i] == image[(1 + i / 3) * width + 2 + i % 3]);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));

  // The same image in pitched memory.
  float* rows = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
  CHECK(cudaMemcpy2D(rows, pitch, image.data(), width * sizeof(float), width * sizeof(float),
                     height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = rows;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  resource.res.pitch2D.desc = channel;
  check_every_mode(resource, image);
}

void check_bytes() {
  const std::vector<uchar4> colors = {{0, 51, 102, 255}, {255, 1, 2, 3}, {4, 5, 6, 7}};
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &channel, 3, 1));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, colors.data(), 12, 12, 1, cudaMemcpyHostToDevice));
  cudaTextureDesc how = sampling(cudaAddressModeClamp, cudaFilterModePoint, false);
  uchar4* bytes = on_device(std::vector<uchar4>(3));
  sample_bytes<<<1, 3>>>(texture_of(resource_of(array), how), bytes);
  const std::vector<uchar4> same = on_host(bytes, 3);
  for (int i = 0; i < 3; ++i)
    EXPECT(same[i].x == colors[i].x && same[i].w == colors[i].w);
  how.readMode = cudaReadModeNormalizedFloat;
  float4* floats = on_device(std::vector<float4>(3));
  sample_colors<<<1, 3>>>(texture_of(resource_of(array), how), floats);
  const std::vector<float4> normal = on_host(floats, 3);
  EXPECT(normal[0].x == 0 && normal[0].y == 51 / 255.0f && normal[0].w == 1);
  EXPECT(normal[1].x == 1 && normal[2].z == 6 / 255.0f);
}

void check_linear_memory() {
  std::vector<int> values = {5, -6, 7};
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = on_device(values);
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 3 * sizeof(int);
  int* out = on_device(std::vector<int>(8, 1));
  fetch_1d<<<1, 8>>>(
      texture_of(resource, sampling(cudaAddressModeClamp, cudaFilterModePoint, false)), out);
  const std::vector<int> got = on_host(out, 8);
  const int expected[8] = {0, 0, 5, -6, 7, 0, 0, 0};
  for (int i = 0; i < 8; ++i)
    EXPECT(got[i] == expected[i]);
}

cudaArray_t make_volume(const std::vector<float>& values, cudaExtent extent, unsigned flags) {
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMalloc3DArray(&array, &channel, extent, flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(values.data()),
                                    extent.width * sizeof(float), extent.width, extent.height);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

void check_volumes() {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  float* out = on_device(std::vector<float>(16));
  const cudaTextureDesc linear = sampling(cudaAddressModeClamp, cudaFilterModeLinear, false);
  sample_3d<<<1, 8>>>(texture_of(resource_of(make_volume(values, {2, 2, 2}, 0)), linear), out);
  std::vector<float> got = on_host(out, 16);
  for (int i = 0; i < 8; ++i)
    EXPECT(got[i] == values[i] && got[8 + i] == 4.5f);

  sample_layers<<<1, 4>>>(
      texture_of(resource_of(make_volume(values, {2, 1, 4}, cudaArrayLayered)), linear), out);
  got = on_host(out, 4);
  for (int layer = 0; layer < 4; ++layer)
    EXPECT(got[layer] == values[2 * layer + 1]);

  const std::vector<float> faces = {10, 11, 12, 13, 14, 15};
  sample_cube<<<1, 6>>>(
      texture_of(resource_of(make_volume(faces, {1, 1, 6}, cudaArrayCubemap)), linear), out);
  got = on_host(out, 6);
  for (int face = 0; face < 6; ++face)
    EXPECT(got[face] == faces[face]);
}

void check_surfaces() {
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &channel, width, height));
  cudaSurfaceObject_t surface = 0;
  const cudaResourceDesc plain = resource_of(array);
  EXPECT(cudaCreateSurfaceObject(&surface, &plain) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaFreeArray(array));
  CHECK(cudaMallocArray(&array, &channel, width, height, cudaArraySurfaceLoadStore));
  const cudaResourceDesc resource = resource_of(array);
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  write_surface<<<1, dim3(width, height)>>>(surface);
  float* out = on_device(std::vector<float>(width * height + 2, -1));
  read_surface<<<1, dim3(width, height)>>>(surface, out);
  const std::vector<float> got = on_host(out, width * height + 2);
  for (int i = 0; i < width * height; ++i)
    EXPECT(got[i] == float(10 * (i / width) + i % width));
  EXPECT(got[width * height] == 0 && got[width * height + 1] == 0);
  int* sizes = on_device(std::vector<int>(3));
  ask_surface<<<1, 1>>>(surface, sizes);
  const std::vector<int> of_surface = on_host(sizes, 3);
  EXPECT(of_surface[0] == width && of_surface[1] == height && of_surface[2] == 4);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

int main() {
  check_arrays_of_two_dimensions();
  check_bytes();
  check_linear_memory();
  check_volumes();
  check_surfaces();
  std::printf("ok\n");
  return 0;
}
