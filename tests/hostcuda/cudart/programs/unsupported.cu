// What the runtime library lacks is an error and a line in the log, not the end of the program.
#include <cuda_runtime.h>

#include "check.hpp"

int main() {
  cudaGraph_t graph = nullptr;
  cudaMemPool_t pool = nullptr;
  EXPECT(cudaGraphCreate(&graph, 0) == cudaErrorNotSupported);
  EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaSuccess);
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 64));
  CHECK(cudaFree(values));
  std::printf("ok\n");
  return 0;
}
