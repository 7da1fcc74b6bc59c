// Prints how many multiprocessors device 0 has.
#include <cstdio>

#include <cuda.h>

int main() {
  CUdevice device = 0;
  int count = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) !=
          CUDA_SUCCESS) {
    return 1;
  }
  std::printf("%d\n", count);
  return 0;
}
