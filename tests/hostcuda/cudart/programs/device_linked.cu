// Relocatable device code of two files, linked on the device side, each with a kernel of its own.
#include <cuda_runtime.h>

#include "check.hpp"

void add_offset(int* values);  // device_linked_other.cu

__global__ void square(int* values) {
  values[threadIdx.x] *= values[threadIdx.x];
}

int main() {
  int host[32];
  int* values;
  for (int i = 0; i < 32; ++i)
    host[i] = i;
  CHECK(cudaMalloc(&values, sizeof host));
  CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  square<<<1, 32>>>(values);
  CHECK(cudaGetLastError());
  add_offset(values);
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    EXPECT(host[i] == i * i + 100);
  std::printf("ok\n");
  return 0;
}
