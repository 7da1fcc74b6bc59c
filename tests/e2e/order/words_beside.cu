// A stream writes and waits for words of memory while launches of another one are held back, behind
// a kernel that waits for the host.
#include <cstdio>
#include <cstdlib>

#include <cuda.h>
#include <cuda_runtime.h>

static void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}
#define CHECK(call) check((call) == 0, #call)

__global__ void wait_for_host(volatile int* gate) {
  while (*gate == 0) {
  }
}
__global__ void add_one(int* to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  return reinterpret_cast<Function>(found);
}

int main() {
  constexpr int cells = 1 << 13, launches = 20;
  const auto write_value = driver_function<decltype(&cuStreamWriteValue32)>("cuStreamWriteValue32");
  const auto wait_value = driver_function<decltype(&cuStreamWaitValue32)>("cuStreamWaitValue32");
  int *numbers = nullptr, *word = nullptr;
  CHECK(cudaMalloc(&numbers, cells * sizeof(int)));
  CHECK(cudaMalloc(&word, sizeof(int)));
  CHECK(cudaMemset(numbers, 0, cells * sizeof(int)));
  void* flag = nullptr;
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  auto* const gate = static_cast<volatile int*>(flag);
  *gate = 0;
  cudaStream_t held, other;
  CHECK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));

  wait_for_host<<<1, 1, 0, held>>>(gate);
  const auto address = reinterpret_cast<CUdeviceptr>(word);
  for (unsigned i = 0; i < launches; ++i) {
    add_one<<<cells / 128, 128, 0, held>>>(numbers);
    CHECK(write_value(other, address, i, CU_STREAM_WRITE_VALUE_DEFAULT));
    CHECK(wait_value(other, address, i, CU_STREAM_WAIT_VALUE_EQ));
  }
  *gate = 1;
  CHECK(cudaStreamSynchronize(held));
  CHECK(cudaStreamSynchronize(other));
  int last = 0, written = 0;
  CHECK(cudaMemcpy(&last, numbers + cells - 1, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&written, word, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", last, written);
}
