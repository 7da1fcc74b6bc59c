// The other file of device_linked.cu.
#include <cuda_runtime.h>

#include "check.hpp"

__device__ int offset = 100;

__global__ void add(int* values) {
  values[threadIdx.x] += offset;
}

void add_offset(int* values) {
  add<<<1, 32>>>(values);
  CHECK(cudaGetLastError());
}
