// A library with a static CUDA runtime of its own, which uses it before anybody calls the library:
// its global constructor adds on the device. Built several times, with different ADDEND.
#include <cstdio>

namespace {

__device__ int calls;

__global__ void add(int* sum, int addend) {
  sum[threadIdx.x] += addend;
  if (threadIdx.x == 0) ++calls;
}

struct Device {
  int* sum = nullptr;
  Device() {
    cudaMalloc(&sum, 32 * sizeof(int));
    cudaMemset(sum, 0, 32 * sizeof(int));
    add<<<1, 32>>>(sum, ADDEND);
  }
  ~Device() { cudaFree(sum); }
};
Device device;

}  // namespace

// Adds once more on the given stream; returns the sum, or a negative error.
extern "C" int add_once_more(void* stream) {
  add<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(device.sum, ADDEND);
  int sum[32] = {}, seen = 0;
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
  const cudaError_t copied = cudaMemcpy(sum, device.sum, sizeof sum, cudaMemcpyDeviceToHost);
  if (copied != cudaSuccess) {
    std::printf("library: %s\n", cudaGetErrorString(copied));
    return -static_cast<int>(copied);
  }
  cudaMemcpyFromSymbol(&seen, calls, sizeof seen);
  return sum[31] == sum[0] ? sum[31] * 100 + seen : -1;
}

extern "C" int last_error() {
  const volatile cudaError_t error =
      cudaGetLastError();  // no tail call: whoever asks is this library
  return error;
}
