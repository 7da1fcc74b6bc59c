// Relocatable device code of two files, linked on the device side: kernels of each, and a function,
// a variable and a constant of one that the other uses.
#include <cuda_runtime.h>

#include "check.hpp"

void add_offset(int* values);  // device_linked_other.cu
__device__ int scaled(int value);
extern __device__ int offset;
extern __constant__ int factors[4];

// The other file has one of that name, too.
static __device__ int calls = 1000;

__global__ void square(int* values) {
  values[threadIdx.x] *= values[threadIdx.x];
}

__global__ void scale(int* values) {
  if (threadIdx.x == 0) ++calls;
  values[threadIdx.x] = scaled(values[threadIdx.x]) + factors[threadIdx.x % 4];
}

__global__ void read(int* values) {
  values[0] = calls;
  values[1] = offset;
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
  scale<<<1, 32>>>(values);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    EXPECT(host[i] == 3 * (i * i + 100) + 100 + i % 4 + 1);
  const int changed = 7;
  CHECK(cudaMemcpyToSymbol(offset, &changed, sizeof changed));
  read<<<1, 1>>>(values);
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 1001);
  EXPECT(host[1] == 7);
  add_offset(values);
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 1008);
  std::printf("ok\n");
  return 0;
}
