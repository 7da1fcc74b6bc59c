// Managed memory: allocated, and as a variable that host and device name alike.
#include <cuda_runtime.h>

#include "check.hpp"

__managed__ int total = 5;

__global__ void sum(const int* values, int n) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i)
      total += values[i];
  }
}

int main() {
  int* values = nullptr;
  CHECK(cudaMallocManaged(&values, 100 * sizeof(int)));
  for (int i = 0; i < 100; ++i)
    values[i] = i;
  sum<<<1, 32>>>(values, 100);
  CHECK(cudaDeviceSynchronize());
  EXPECT(total == 4955);
  total = 0;
  sum<<<1, 32>>>(values, 100);
  CHECK(cudaDeviceSynchronize());
  EXPECT(total == 4950);
  cudaPointerAttributes pointer;
  CHECK(cudaPointerGetAttributes(&pointer, values));
  EXPECT(pointer.type == cudaMemoryTypeManaged);
  CHECK(cudaFree(values));
  std::printf("ok\n");
  return 0;
}
