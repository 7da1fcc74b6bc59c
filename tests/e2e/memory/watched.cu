// The host watches a word while the device works: long work, then a kernel that sets the word. What
// the work wrote before is there when the word is. The word is stored plainly, by a volatile or
// atomic access, is a managed variable, or lies in the middle of other data.
#include <cstdio>
#include <string>

#include <cuda_runtime.h>

constexpr int cells = 1 << 16;

__managed__ int flag_of_code;

__global__ void work(int* data, int steps) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  int value = data[x];
  for (int i = 0; i < steps; ++i)
    value = value * 3 + 1;
  data[x] = value;
}
__global__ void fill(int* data, int value) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void set(int* flag) {
  *flag = 1;
}
__global__ void set_strongly(int* flag) {
  *(volatile int*)flag = 1;
}
__global__ void add(int* flag) {
  atomicAdd(flag, 1);
}
__global__ void set_variable() {
  flag_of_code = 1;
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "plain";
  const bool is_managed = argc > 2 && std::string(argv[2]) == "managed";
  const bool is_inside = how == "volatile" || how == "atomic";
  const auto allocate = [&](void* memory, size_t bytes) {
    void** place = static_cast<void**>(memory);
    return is_managed ? cudaMallocManaged(place, bytes)
                      : cudaHostAlloc(place, bytes, cudaHostAllocMapped);
  };
  int* flags = nullptr;
  int* result = nullptr;
  int* data = nullptr;
  const size_t flag_bytes = (is_inside ? cells : 1) * sizeof(int);
  if (allocate(&flags, flag_bytes) != cudaSuccess) return 1;
  if (allocate(&result, cells * sizeof(int)) != cudaSuccess) return 1;
  if (cudaMalloc(&data, cells * sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(data, 0, cells * sizeof(int));
  int* flag = how == "variable" ? &flag_of_code : flags + (is_inside ? cells / 2 : 0);
  int wrong = 0;
  for (int round = 1; round <= 20; ++round) {
    *(volatile int*)flag = 0;
    for (int t = 0; t < 4; ++t)
      work<<<cells / 256, 256>>>(data, 100);
    fill<<<cells / 256, 256>>>(result, round);
    if (how == "plain") {
      set<<<1, 1>>>(flag);
    } else if (how == "volatile") {
      set_strongly<<<1, 1>>>(flag);
    } else if (how == "atomic") {
      add<<<1, 1>>>(flag);
    } else if (how == "variable") {
      set_variable<<<1, 1>>>();
    } else {
      cudaMemsetAsync(flag, 1, sizeof(int));
    }
    while (*(volatile int*)flag == 0) {
    }
    for (int i = 0; i < cells; ++i)
      wrong += ((volatile int*)result)[i] != round;
    cudaDeviceSynchronize();
  }
  std::printf("%d wrong\n", wrong);
  return cudaGetLastError() != cudaSuccess;
}
