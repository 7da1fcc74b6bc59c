// Streams, events, host functions and callbacks, in the order that streams promise.
#include <atomic>
#include <vector>

#include <cuda_runtime.h>

#include "check.hpp"

__global__ void increment(int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

static std::atomic<int> step{0};

static void host_function(void* expected) {
  int want = *static_cast<int*>(expected);
  step.compare_exchange_strong(want, want + 1);
}

static void callback(cudaStream_t, cudaError_t status, void* expected) {
  if (status == cudaSuccess) host_function(expected);
}

int main() {
  const int n = 4096;
  int* values;
  int* pinned;
  CHECK(cudaMalloc(&values, n * sizeof(int)));
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  cudaStream_t first, second;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t start, between, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&stop));

  CHECK(cudaMemsetAsync(values, 0, n * sizeof(int), first));
  CHECK(cudaEventRecord(start, first));
  for (int t = 0; t < 10; ++t)
    increment<<<n / 256, 256, 0, first>>>(values, n);
  static int zero = 0, one = 1;
  CHECK(cudaLaunchHostFunc(first, host_function, &zero));
  CHECK(cudaEventRecord(between, first));
  CHECK(cudaStreamWaitEvent(second, between, 0));
  for (int t = 0; t < 10; ++t)
    increment<<<n / 256, 256, 0, second>>>(values, n);
  CHECK(cudaStreamAddCallback(second, callback, &one, 0));
  CHECK(cudaMemcpyAsync(pinned, values, n * sizeof(int), cudaMemcpyDeviceToHost, second));
  CHECK(cudaStreamSynchronize(second));
  EXPECT(step == 2);
  for (int i = 0; i < n; ++i)
    EXPECT(pinned[i] == 20);

  CHECK(cudaEventRecord(stop, first));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaEventQuery(stop));
  CHECK(cudaStreamQuery(first));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);
  EXPECT(cudaEventElapsedTime(&milliseconds, start, between) == cudaErrorInvalidResourceHandle);

  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(between));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(values));
  std::printf("ok\n");
  return 0;
}
