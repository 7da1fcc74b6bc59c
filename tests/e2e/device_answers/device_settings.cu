// Prints what the device says of itself, and whether half and twice of its memory can be had.
#include <cstdio>

int main() {
  cudaDeviceProp properties;
  size_t free = 0, total = 0;
  void *half = nullptr, *twice = nullptr;
  cudaGetDeviceProperties(&properties, 0);
  cudaMemGetInfo(&free, &total);
  std::printf("%d.%d %zu %zu\n", properties.major, properties.minor, properties.totalGlobalMem, total);
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&half, total / 2)));
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&twice, total * 2)));
  std::printf("%d\n", free <= total);
}
