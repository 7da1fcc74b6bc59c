// What the runtime library lacks is an error and a line in the log, not the end of the program.
#include <cuda_runtime.h>

#include "check.hpp"

int main() {
  cudaMipmappedArray_t array = nullptr;
  const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaIpcMemHandle_t handle;
  EXPECT(cudaMallocMipmappedArray(&array, &channel, {4, 4, 0}, 2) == cudaErrorNotSupported);
  EXPECT(cudaIpcGetMemHandle(&handle, nullptr) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaSuccess);
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 64));
  CHECK(cudaFree(values));
  std::printf("ok\n");
  return 0;
}
