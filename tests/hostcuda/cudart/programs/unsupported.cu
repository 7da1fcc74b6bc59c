// What the runtime library lacks is an error and a line in the log, not the end of the program.
#include <cuda_runtime.h>

#include "check.hpp"

int main() {
  cudaArray_t plane = nullptr;
  cudaIpcMemHandle_t handle;
  EXPECT(cudaArrayGetPlane(&plane, nullptr, 0) == cudaErrorNotSupported);
  EXPECT(cudaIpcGetMemHandle(&handle, nullptr) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaSuccess);
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 64));
  CHECK(cudaFree(values));
  std::printf("ok\n");
  return 0;
}
