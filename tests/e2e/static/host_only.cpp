// A program without kernels, which nvcc links to the shared runtime.
#include <cstdio>

#include <cuda_runtime.h>

int main() {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, 64);
  std::puts(cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 1;
}
