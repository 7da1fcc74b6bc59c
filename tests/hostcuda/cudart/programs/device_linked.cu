// Relocatable device code of two files, linked on the device side: one kernel calls into the other.
#include <cuda_runtime.h>

#include "check.hpp"

extern __device__ int square(int value);
extern __device__ int offset;

__global__ void apply(int* values) {
  values[threadIdx.x] = square(values[threadIdx.x]) + offset;
}

int main() {
  int host[32];
  int* values;
  for (int i = 0; i < 32; ++i)
    host[i] = i;
  CHECK(cudaMalloc(&values, sizeof host));
  CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  apply<<<1, 32>>>(values);
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    EXPECT(host[i] == i * i + 100);
  std::printf("ok\n");
  return 0;
}
