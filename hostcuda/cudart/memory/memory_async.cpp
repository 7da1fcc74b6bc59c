// Stream-ordered allocation.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return with_context([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pointer = nullptr;
    return size == 0 ? CUDA_SUCCESS : cuMemAllocAsync(device_address(pointer), size, stream);
  });
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync(pointer, size, per_thread(stream));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return with_context([&] {
    return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeAsync(device_address(pointer), stream);
  });
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return cudaFreeAsync(pointer, per_thread(stream));
}

}  // extern "C"
