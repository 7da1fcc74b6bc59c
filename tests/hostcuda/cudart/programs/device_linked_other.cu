// The other file of device_linked.cu.
#include <cuda_runtime.h>

#include "check.hpp"

__device__ int offset = 100;
__constant__ int factors[4] = {1, 2, 3, 4};
static __device__ int calls = 0;

__device__ __noinline__ int scaled(int value) {
  atomicAdd(&calls, 1);
  return 3 * value + offset;
}

__global__ void add(int* values) {
  values[threadIdx.x] += offset;
}

void add_offset(int* values) {
  add<<<1, 32>>>(values);
  CHECK(cudaGetLastError());
}
