// Stream-ordered allocation and memory pools.
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

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return with_context([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pointer = nullptr;
    return size == 0 ? CUDA_SUCCESS
                     : cuMemAllocFromPoolAsync(device_address(pointer), size, pool, stream);
  });
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, size_t size, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, size, pool, per_thread(stream));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return with_driver([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return with_driver([&] { return cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return with_driver([&] { return cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
  return with_driver([&] { return cuMemPoolTrimTo(pool, bytes_to_keep); });
}

// Both APIs number the attributes alike and hold their values alike.
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_driver([&] {
    return cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_driver([&] {
    return cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return with_driver(
      [&] { return cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return with_driver([&] { return cuMemPoolDestroy(pool); });
}

}  // extern "C"
