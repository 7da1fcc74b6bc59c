// Device properties, attributes, limits, function attributes and occupancy agree with each other.
#include <cstring>

#include <cuda_runtime.h>

#include "check.hpp"

__global__ void shared_user(float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = values[63 - threadIdx.x];
}

int main() {
  int count = 0, device = -1, value = 0;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  CHECK(cudaGetDevice(&device));
  EXPECT(device == 0);

  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  EXPECT(std::strlen(properties.name) > 0);
  EXPECT(properties.warpSize == 32);
  EXPECT(properties.maxThreadsPerBlock >= 1024);
  EXPECT(properties.maxThreadsDim[2] >= 64);
  EXPECT(properties.maxGridSize[0] == 2147483647);
  EXPECT(properties.multiProcessorCount >= 1);
  EXPECT(properties.sharedMemPerBlock >= 48 * 1024);
  EXPECT(properties.major >= 7);
  EXPECT(properties.unifiedAddressing == 1);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  EXPECT(value == properties.multiProcessorCount);
  EXPECT(cudaGetDeviceProperties(&properties, count) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);

  size_t free_bytes = 0, total_bytes = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  EXPECT(free_bytes > 0 && free_bytes <= total_bytes);
  EXPECT(total_bytes == properties.totalGlobalMem);

  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  EXPECT(runtime == CUDART_VERSION);
  EXPECT(driver >= 13000);

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, shared_user));
  EXPECT(attributes.sharedSizeBytes == 64 * sizeof(float));
  EXPECT(attributes.maxThreadsPerBlock >= 1024);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_user, 64, 0));
  EXPECT(blocks >= 1);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, shared_user, 0, 0));
  EXPECT(grid >= 1 && block >= 32);

  float host[64], *out;
  for (int i = 0; i < 64; ++i)
    host[i] = static_cast<float>(i);
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMemcpy(out, host, sizeof host, cudaMemcpyHostToDevice));
  shared_user<<<1, 64>>>(out);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i)
    EXPECT(host[i] == static_cast<float>(63 - i));

  cudaPointerAttributes pointer;
  CHECK(cudaPointerGetAttributes(&pointer, out));
  EXPECT(pointer.type == cudaMemoryTypeDevice);
  EXPECT(pointer.device == device);
  EXPECT(pointer.devicePointer == out);
  CHECK(cudaPointerGetAttributes(&pointer, host));
  EXPECT(pointer.type == cudaMemoryTypeUnregistered);

  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 13000, cudaEnableDefault, &found));
  EXPECT(found == cudaDriverEntryPointSuccess && entry != nullptr);
  CHECK(cudaGetDriverEntryPointByVersion("cuNoSuch", &entry, 13000, cudaEnableDefault, &found));
  EXPECT(found == cudaDriverEntryPointSymbolNotFound);
  std::printf("ok\n");
  return 0;
}
