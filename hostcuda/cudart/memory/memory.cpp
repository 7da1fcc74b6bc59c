// Allocation: device, host, managed and pitched memory, and what a pointer points to.
#include <algorithm>

#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

// A request for no bytes succeeds with a null pointer, where the driver would refuse it. What
// fails leaves the pointer as it was.
template <class Body>
cudaError_t allocate(void** pointer, size_t size, Body&& body) {
  return with_context([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (size != 0) return body();
    *pointer = nullptr;
    return CUDA_SUCCESS;
  });
}

// The widest element that must start a row aligned: four floats.
constexpr unsigned pitch_element_bytes = 16;

cudaError_t allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t height) {
  return allocate(pointer, std::min(width, height), [&] {
    return pitch == nullptr ? CUDA_ERROR_INVALID_VALUE
                            : cuMemAllocPitch(device_address(pointer), pitch, width, height,
                                              pitch_element_bytes);
  });
}

cudaMemoryType memory_type(unsigned driver_type, bool is_managed) {
  if (is_managed) return cudaMemoryTypeManaged;
  if (driver_type == CU_MEMORYTYPE_HOST) return cudaMemoryTypeHost;
  return driver_type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
}

CUresult read_pointer_attributes(cudaPointerAttributes* attributes, const void* pointer) {
  unsigned type = 0;
  unsigned is_managed = 0;
  int ordinal = -1;
  CUdeviceptr device_pointer = 0;
  void* host_pointer = nullptr;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &is_managed, &ordinal, &device_pointer, &host_pointer};
  const CUresult result = cuPointerGetAttributes(5, wanted, values, device_address(pointer));
  if (result != CUDA_SUCCESS) return result;
  *attributes = {};
  attributes->type = memory_type(type, is_managed != 0);
  const bool known = attributes->type != cudaMemoryTypeUnregistered;
  attributes->device = known ? ordinal : cudaInvalidDeviceId;
  attributes->devicePointer = known ? reinterpret_cast<void*>(device_pointer) : nullptr;
  attributes->hostPointer = known ? host_pointer : const_cast<void*>(pointer);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return allocate(pointer, size, [&] { return cuMemAlloc(device_address(pointer), size); });
}

cudaError_t cudaFree(void* pointer) {
  return with_context(
      [&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFree(device_address(pointer)); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return allocate(pointer, size, [&] { return cuMemHostAlloc(pointer, size, flags); });
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return cudaHostAlloc(pointer, size, 0);
}

cudaError_t cudaFreeHost(void* pointer) {
  return with_context([&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  return with_context([&] { return cuMemHostRegister(pointer, size, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return with_context([&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return with_context([&] {
    return cuMemHostGetDevicePointer(device_address(device_pointer), host_pointer, flags);
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return with_context([&] { return cuMemHostGetFlags(flags, pointer); });
}

// Unlike the other allocations, managed memory of no bytes is an error.
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return with_context([&] {
    return pointer == nullptr ? CUDA_ERROR_INVALID_VALUE
                              : cuMemAllocManaged(device_address(pointer), size, flags);
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return allocate_pitched(pointer, pitch, width, height);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (pitched == nullptr) return record(cudaErrorInvalidValue);
  size_t rows = 0;
  if (extent.width != 0 && __builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return record(cudaErrorMemoryAllocation);
  }
  cudaPitchedPtr made = {nullptr, extent.width, extent.width, extent.height};
  const cudaError_t error = allocate_pitched(&made.ptr, &made.pitch, extent.width, rows);
  if (error == cudaSuccess) *pitched = made;
  return error;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return with_context([&] { return cuMemGetInfo(free, total); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return with_context([&] {
    return attributes == nullptr ? CUDA_ERROR_INVALID_VALUE
                                 : read_pointer_attributes(attributes, pointer);
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return with_context([&] {
    const CUmemLocation place{static_cast<CUmemLocationType>(location.type), location.id};
    return cuMemAdvise(device_address(pointer), count, static_cast<CUmem_advise>(advice), place);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return with_context([&] {
    const CUmemLocation place{static_cast<CUmemLocationType>(location.type), location.id};
    return cuMemPrefetchAsync(device_address(pointer), count, place, flags, stream);
  });
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t count, cudaMemLocation location,
                                      unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, count, location, flags, per_thread(stream));
}

}  // extern "C"
