// A build with --default-stream per-thread: each thread works in a stream of its own.
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "check.hpp"

__global__ void add(int* values, int n, int amount) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += amount;
}

static void work(int amount) {
  const int n = 1000;
  std::vector<int> host(n, 1);
  int* values;
  CHECK(cudaMallocAsync(&values, n * sizeof(int), 0));
  CHECK(cudaMemcpyAsync(values, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (int t = 0; t < 20; ++t)
    add<<<8, 128>>>(values, n, amount);
  CHECK(cudaMemcpy(host.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(host[i] == 1 + 20 * amount);
  CHECK(cudaFreeAsync(values, 0));
  CHECK(cudaStreamSynchronize(0));
}

int main() {
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back(work, t);
  for (std::thread& thread : threads)
    thread.join();
  std::printf("ok\n");
  return 0;
}
