// Cooperative launches: barriers of the whole grid.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

// Each step adds the neighbours' values of the step before: wrong as soon as one block is early.
__global__ void steps(int* a, int* b, int n, int count) {
  const cg::grid_group grid = cg::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < count; ++step) {
    if (i < n) b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
    grid.sync();
    int* other = a;
    a = b;
    b = other;
  }
}

__global__ void has_grid(int* valid) {
  *valid = cg::this_grid().is_valid();
}

int main() {
  int cooperative = 0;
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  EXPECT(cooperative == 1);
  int per_processor = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  const int threads = 64;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, steps, threads, 0));
  const int blocks = per_processor * properties.multiProcessorCount;
  int n = blocks * threads - 5;
  int count = 20;
  std::vector<int> expected(n), next(n), got(n);
  for (int i = 0; i < n; ++i)
    expected[i] = i % 7;
  int* a = nullptr;
  int* b = nullptr;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMemcpy(a, expected.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&a, &b, &n, &count};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(steps), dim3(blocks),
                                    dim3(threads), arguments));
  CHECK(cudaMemcpy(got.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int step = 0; step < count; ++step) {
    for (int i = 0; i < n; ++i)
      next[i] = static_cast<int>(static_cast<unsigned>(expected[(i + 1) % n]) +
                                 static_cast<unsigned>(expected[(i + n - 1) % n]));
    expected.swap(next);
  }
  EXPECT(got == expected);

  EXPECT(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(steps), dim3(blocks + 1),
                                     dim3(threads),
                                     arguments) == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);

  int valid = -1;
  has_grid<<<1, 1>>>(a);
  CHECK(cudaMemcpy(&valid, a, sizeof valid, cudaMemcpyDeviceToHost));
  EXPECT(valid == 0);
  void* only[] = {&a};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(has_grid), dim3(1), dim3(1),
                                    only));
  CHECK(cudaMemcpy(&valid, a, sizeof valid, cudaMemcpyDeviceToHost));
  EXPECT(valid == 1);
  std::printf("ok\n");
  return 0;
}
