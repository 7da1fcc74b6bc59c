// <<<>>>, cudaLaunchKernel and cudaLaunchKernelEx on vectors whose size is no multiple of the
// block.
#include <vector>

#include <cuda_runtime.h>

#include "check.hpp"

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

template <class T>
__global__ void fill(T* out, int n, T value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

int main() {
  const int n = 10007;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * static_cast<float>(i);
  }
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, n * sizeof(float)));
  CHECK(cudaMalloc(&db, n * sizeof(float)));
  CHECK(cudaMalloc(&dc, n * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyDefault));

  const int block = 128;
  const int grid = (n + block - 1) / block;
  add<<<grid, block>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(c[i] == a[i] + b[i]);

  int count = n;
  void* arguments[] = {&dc, &db, &da, &count};
  CHECK(cudaLaunchKernel((const void*)add, dim3(grid), dim3(block), arguments, 0, nullptr));
  CHECK(cudaMemcpy(c.data(), da, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(c[i] == a[i] + b[i] + b[i]);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(block);
  CHECK(cudaLaunchKernelEx(&config, fill<float>, dc, n, 3.25f));
  CHECK(cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(c[i] == 3.25f);

  CHECK(cudaMemset(dc, 0, n * sizeof(float)));
  CHECK(cudaMemcpy(da, dc, n * sizeof(float), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(c.data(), da, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(c[i] == 0.0f);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  std::printf("ok\n");
  return 0;
}
