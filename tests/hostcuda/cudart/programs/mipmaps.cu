// Mipmapped arrays: levels of detail, chosen, mixed and clamped, against the formulas of the CUDA
// programming guide.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"

constexpr int edge = 8;
constexpr int levels = 4;

struct Place {
  float x, y, level;
};

__global__ void sample(cudaTextureObject_t texture, const Place* places, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2DLod<float>(texture, places[i].x, places[i].y, places[i].level);
}

__global__ void sample_base(cudaTextureObject_t texture, float* out) {
  out[0] = tex2D<float>(texture, 0.51f, 0.51f);
}

// The longer gradient is 2^step texels of the largest level.
__global__ void sample_gradients(cudaTextureObject_t texture, float* out) {
  const float step = exp2f(threadIdx.x * 0.5f) / edge;
  out[2 * threadIdx.x] =
      tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(0.6f * step, 0.8f * step),
                       make_float2(0.1f * step, 0));
  out[2 * threadIdx.x + 1] =
      tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(0, 0), make_float2(0, step));
}

__global__ void sample_others(cudaTextureObject_t line, cudaTextureObject_t layers,
                              cudaTextureObject_t volume, cudaTextureObject_t cube, float* out) {
  const float level = threadIdx.x;
  out[4 * threadIdx.x] = tex1DLod<float>(line, 0.5f, level);
  out[4 * threadIdx.x + 1] = tex2DLayeredLod<float>(layers, 0.5f, 0.5f, 1, level);
  out[4 * threadIdx.x + 2] = tex3DLod<float>(volume, 0.5f, 0.5f, 0.5f, level);
  out[4 * threadIdx.x + 3] = texCubemapLod<float>(cube, 0, 0, -1, level);
}

__global__ void write_level(cudaSurfaceObject_t surface, float value) {
  surf2Dwrite(value + threadIdx.x + 10 * threadIdx.y, surface, threadIdx.x * sizeof(float),
              threadIdx.y);
}

cudaArray_t level_of(cudaMipmappedArray_t array, unsigned number) {
  cudaArray_t level = nullptr;
  CHECK(cudaGetMipmappedArrayLevel(&level, array, number));
  return level;
}

cudaMipmappedArray_t make_array(cudaExtent extent, unsigned flags) {
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t array = nullptr;
  CHECK(cudaMallocMipmappedArray(&array, &channel, extent, levels, flags));
  return array;
}

// Each texel of level k is 100 k + x + 10 y, written through a surface.
cudaMipmappedArray_t make_plane() {
  cudaMipmappedArray_t array = make_array({edge, edge, 0}, cudaArraySurfaceLoadStore);
  for (unsigned k = 0; k < levels; ++k) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = level_of(array, k);
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    write_level<<<1, dim3(edge >> k, edge >> k)>>>(surface, 100.0f * k);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroySurfaceObject(surface));
  }
  return array;
}

// Each texel is 1 + k.
cudaMipmappedArray_t make_constant(cudaExtent extent, unsigned flags) {
  cudaMipmappedArray_t array = make_array(extent, flags);
  for (unsigned k = 0; k < levels; ++k) {
    cudaExtent shape;
    CHECK(cudaArrayGetInfo(nullptr, &shape, nullptr, level_of(array, k)));
    const cudaExtent texels = {shape.width, std::max<size_t>(shape.height, 1),
                               std::max<size_t>(shape.depth, 1)};
    const std::vector<float> values(texels.width * texels.height * texels.depth, 1.0f + k);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(values.data()),
                                      texels.width * sizeof(float), texels.width, texels.height);
    copy.dstArray = level_of(array, k);
    copy.extent = texels;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
  }
  return array;
}

cudaTextureDesc sampling(cudaTextureFilterMode filter, cudaTextureFilterMode between) {
  cudaTextureDesc description = {};
  for (cudaTextureAddressMode& axis : description.addressMode)
    axis = cudaAddressModeClamp;
  description.filterMode = filter;
  description.mipmapFilterMode = between;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = 1;
  description.maxMipmapLevelClamp = levels;
  return description;
}

cudaError_t make_texture(cudaTextureObject_t* object, cudaMipmappedArray_t array,
                         const cudaTextureDesc& how) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  return cudaCreateTextureObject(object, &resource, &how, nullptr);
}

cudaTextureObject_t texture_of(cudaMipmappedArray_t array, const cudaTextureDesc& how) {
  cudaTextureObject_t object = 0;
  CHECK(make_texture(&object, array, how));
  return object;
}

float of_level(int k, float x, float y, cudaTextureFilterMode filter) {
  const int n = edge >> k;
  const auto texel = [&](int i, int j) {
    return 100.0f * k + std::clamp(i, 0, n - 1) + 10 * std::clamp(j, 0, n - 1);
  };
  if (filter == cudaFilterModePoint) return texel(int(std::floor(x * n)), int(std::floor(y * n)));
  x = x * n - 0.5f;
  y = y * n - 0.5f;
  const int i = int(std::floor(x));
  const int j = int(std::floor(y));
  const float a = std::floor((x - i) * 256 + 0.5f) / 256;
  const float b = std::floor((y - j) * 256 + 0.5f) / 256;
  return (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) +
         (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1);
}

float reference(const Place& at, const cudaTextureDesc& how) {
  float level = at.level + how.mipmapLevelBias;
  level = std::min(std::max(level, how.minMipmapLevelClamp), how.maxMipmapLevelClamp);
  level = std::clamp(level, 0.0f, float(levels - 1));
  if (how.mipmapFilterMode == cudaFilterModePoint) {
    return of_level(int(std::floor(level + 0.5f)), at.x, at.y, how.filterMode);
  }
  const int first = std::min(int(std::floor(level)), levels - 2);
  const float weight = std::floor((level - first) * 256 + 0.5f) / 256;
  return (1 - weight) * of_level(first, at.x, at.y, how.filterMode) +
         weight * of_level(first + 1, at.x, at.y, how.filterMode);
}

void check_levels(cudaMipmappedArray_t array) {
  std::vector<Place> places;
  for (float level = -1.3f; level < 5; level += 0.37f) {
    for (float y = -0.11f; y < 1.2f; y += 0.13f) {
      for (float x = -0.07f; x < 1.2f; x += 0.11f)
        places.push_back({x, y, level});
    }
  }
  const int n = int(places.size());
  Place* device_places = nullptr;
  float* out = nullptr;
  CHECK(cudaMalloc(&device_places, n * sizeof(Place)));
  CHECK(cudaMalloc(&out, n * sizeof(float)));
  CHECK(cudaMemcpy(device_places, places.data(), n * sizeof(Place), cudaMemcpyHostToDevice));
  for (cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    for (cudaTextureFilterMode between : {cudaFilterModePoint, cudaFilterModeLinear}) {
      for (bool is_narrow : {false, true}) {
        cudaTextureDesc how = sampling(filter, between);
        if (is_narrow) {
          how.mipmapLevelBias = 0.61f;
          how.minMipmapLevelClamp = 0.75f;
          how.maxMipmapLevelClamp = 2.25f;
        }
        const cudaTextureObject_t texture = texture_of(array, how);
        sample<<<(n + 63) / 64, 64>>>(texture, device_places, out, n);
        std::vector<float> got(n);
        CHECK(cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; ++i)
          EXPECT(std::fabs(got[i] - reference(places[i], how)) <= 1e-3f);
        CHECK(cudaDestroyTextureObject(texture));
      }
    }
  }
  CHECK(cudaFree(device_places));
  CHECK(cudaFree(out));
}

void check_gradients(cudaMipmappedArray_t array) {
  const cudaTextureDesc how = sampling(cudaFilterModeLinear, cudaFilterModeLinear);
  const cudaTextureObject_t texture = texture_of(array, how);
  const int steps = 8;
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 2 * steps * sizeof(float)));
  sample_gradients<<<1, steps>>>(texture, out);
  float got[2 * steps];
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < steps; ++i) {
    const float expected = reference({0.5f, 0.5f, 0.5f * i}, how);
    // A weight may round to the next 256th.
    EXPECT(std::fabs(got[2 * i] - expected) <= 100.0f / 256 + 1e-3f);
    EXPECT(std::fabs(got[2 * i + 1] - expected) <= 100.0f / 256 + 1e-3f);
  }
  sample_base<<<1, 1>>>(texture, out);
  CHECK(cudaMemcpy(got, out, sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT(std::fabs(got[0] - of_level(0, 0.51f, 0.51f, cudaFilterModeLinear)) <= 1e-3f);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(out));
}

void check_other_shapes() {
  const cudaTextureDesc how = sampling(cudaFilterModeLinear, cudaFilterModePoint);
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 4 * levels * sizeof(float)));
  sample_others<<<1, levels>>>(
      texture_of(make_constant({edge, 0, 0}, 0), how),
      texture_of(make_constant({edge, edge, 3}, cudaArrayLayered), how),
      texture_of(make_constant({edge, 4, 2}, 0), how),
      texture_of(make_constant({edge, edge, 6}, cudaArrayCubemap), how), out);
  float got[4 * levels];
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4 * levels; ++i)
    EXPECT(got[i] == 1.0f + i / 4);
}

void check_descriptions(cudaMipmappedArray_t array) {
  cudaExtent extent;
  CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, level_of(array, 2)));
  EXPECT(extent.width == 2 && extent.height == 2 && extent.depth == 0);
  cudaArray_t none = nullptr;
  EXPECT(cudaGetMipmappedArrayLevel(&none, array, levels) == cudaErrorInvalidValue);
  cudaTextureDesc how = sampling(cudaFilterModePoint, cudaFilterModePoint);
  how.normalizedCoords = 0;
  cudaTextureObject_t texture = 0;
  EXPECT(make_texture(&texture, array, how) == cudaErrorInvalidValue);
  // There are no levels below one texel.
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t small = nullptr;
  CHECK(cudaMallocMipmappedArray(&small, &channel, {5, 3, 0}, 9));
  CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, level_of(small, 2)));
  EXPECT(extent.width == 1 && extent.height == 1);
  EXPECT(cudaGetMipmappedArrayLevel(&none, small, 3) == cudaErrorInvalidValue);
  CHECK(cudaFreeMipmappedArray(small));
  EXPECT(cudaFreeMipmappedArray(small) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

int main() {
  cudaMipmappedArray_t plane = make_plane();
  check_levels(plane);
  check_gradients(plane);
  check_other_shapes();
  check_descriptions(plane);
  CHECK(cudaFreeMipmappedArray(plane));
  std::printf("ok\n");
  return 0;
}
