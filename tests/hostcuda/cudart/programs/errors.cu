// Wrong calls come back with CUDA's own errors, and leave the device usable.
#include <cstring>

#include <cuda_runtime.h>

#include "check.hpp"

__global__ void one(int* out) {
  *out = 1;
}

int main() {
  int* out = nullptr;
  CHECK(cudaMalloc(&out, sizeof(int)));

  one<<<1, 2048>>>(out);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  one<<<0, 1>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);

  void* huge = nullptr;
  EXPECT(cudaMalloc(&huge, size_t{1} << 60) == cudaErrorMemoryAllocation);
  EXPECT(std::strcmp(cudaGetErrorString(cudaGetLastError()), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);

  int host = 0;
  EXPECT(cudaFree(&host) == cudaErrorInvalidValue);
  EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  EXPECT(cudaLaunchKernel(&host, dim3(1), dim3(1), nullptr, 0, nullptr) ==
         cudaErrorInvalidDeviceFunction);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDeviceFunction);

  one<<<1, 1>>>(out);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host == 1);
  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&out, sizeof(int)));
  one<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  std::printf("ok\n");
  return 0;
}
