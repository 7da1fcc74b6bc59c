// A 2D 5-point Jacobi iteration with the CUDA runtime API.
#include <utility>

#include <cuda_runtime.h>

#include "stencil.hpp"
#include "stencil_kernel.cuh"

#define CHECK(call)                                                             \
  do {                                                                          \
    cudaError_t status = (call);                                                \
    if (status != cudaSuccess) {                                                \
      std::printf("FAIL stencil: %s: %s\n", #call, cudaGetErrorString(status)); \
      return 1;                                                                 \
    }                                                                           \
  } while (0)

int main(int argc, char** argv) {
  Options options;
  if (!parse_options(argc, argv, options)) return 2;

  const int n = options.size;
  std::vector<float> grid = start_pattern(n);
  const size_t bytes = grid.size() * sizeof(float);

  float* in = nullptr;
  float* out = nullptr;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, grid.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(out, grid.data(), bytes, cudaMemcpyHostToDevice));

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  const dim3 threads(options.block_x, options.block_y);
  const dim3 blocks((n + threads.x - 1) / threads.x, (n + threads.y - 1) / threads.y);
  CHECK(cudaEventRecord(start));
  for (int t = 0; t < options.iterations; ++t) {
    stencil<<<blocks, threads>>>(in, out, n);
    std::swap(in, out);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop));
  CHECK(cudaDeviceSynchronize());

  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaMemcpy(grid.data(), in, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return report("stencil", options, grid, milliseconds * 1e-3);
}
