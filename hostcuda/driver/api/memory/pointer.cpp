// What is known of a pointer, and hints about managed memory.
#include <optional>

#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

template <class T>
CUresult put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return CUDA_SUCCESS;
}

bool is_host_memory(const Allocation& allocation) {
  return allocation.kind == MemoryKind::host || allocation.kind == MemoryKind::registered;
}

CUresult get_attribute(Driver& driver, CUpointer_attribute attribute, CUdeviceptr pointer,
                       void* data) {
  const std::optional<Allocation> allocation = driver.memory.find(pointer);
  if (!allocation) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      // Variables belong to their code, and that to the primary context of whoever asks.
      return put(data, allocation->kind == MemoryKind::variable
                           ? ContextStack::of_this_thread().top()->handle()
                           : static_cast<CUcontext>(const_cast<void*>(allocation->owner)));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data,
                           is_host_memory(*allocation) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put<CUdeviceptr>(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      // The CPU device's own memory is not offered to the host as such: a GPU's is not either.
      if (!is_host_memory(*allocation) && allocation->kind != MemoryKind::managed) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      return put(data, reinterpret_cast<void*>(pointer));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put<unsigned long long>(data, allocation->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<unsigned>(data, allocation->kind == MemoryKind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put<CUdeviceptr>(data, allocation->address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put<size_t>(data, allocation->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<unsigned>(data, 1);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put<CUmemoryPool>(data, nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return put<unsigned>(data, 0);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// clear_attribute() writes what cuPointerGetAttributes gives for a pointer it does not know.
void clear_attribute(CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      put<int>(data, -2);  // the ordinal of no device, as CUDA documents it
      return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      put<unsigned>(data, 0);
      return;
    default:
      put<unsigned long long>(data, 0);
  }
}

CUresult check_managed(Driver& driver, CUdeviceptr pointer, size_t bytes) {
  const std::optional<Allocation> allocation = driver.memory.find(pointer);
  const bool fits = allocation && allocation->kind == MemoryKind::managed && bytes > 0 &&
                    allocation->covers(pointer, bytes);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::optional<Allocation> allocation = driver.memory.find(pointer);
    if (!allocation) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = allocation->address;
    if (bytes != nullptr) *bytes = allocation->bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return get_attribute(driver, attribute, pointer, data);
  });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    if (count == 0 || attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (get_attribute(driver, attributes[i], pointer, data[i]) != CUDA_SUCCESS) {
        clear_attribute(attributes[i], data[i]);
      }
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    // Only SYNC_MEMOPS can be set, and every synchronous operation here is synchronous anyway.
    const bool known = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && value != nullptr &&
                       driver.memory.find(pointer).has_value();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// Prefetches and advice move nothing where host and device share their memory.
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation, unsigned int flags,
                               CUstream stream) {
  return with_stream(stream, [&](Driver& driver, Context&, const StreamRef&) -> CUresult {
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : check_managed(driver, pointer, bytes);
  });
}
SLUICE_PER_THREAD_FORM(cuMemPrefetchAsync_v2, ptsz,
                       (CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                        unsigned int flags, CUstream stream),
                       (pointer, bytes, location, flags, stream))

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice, CUstream stream) {
  return with_stream(stream, [&](Driver& driver, Context&, const StreamRef&) {
    return check_managed(driver, pointer, bytes);
  });
}
SLUICE_PER_THREAD_FORM(cuMemPrefetchAsync, ptsz,
                       (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream),
                       (pointer, bytes, device, stream))

CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise, CUmemLocation) {
  return with_context(
      [&](Driver& driver, Context&) { return check_managed(driver, pointer, bytes); });
}

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise, CUdevice) {
  return with_context(
      [&](Driver& driver, Context&) { return check_managed(driver, pointer, bytes); });
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t, unsigned int flags) {
  return with_stream(stream, [&](Driver& driver, Context&, const StreamRef&) -> CUresult {
    const bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                       flags == CU_MEM_ATTACH_SINGLE;
    return known ? check_managed(driver, pointer, 1) : CUDA_ERROR_INVALID_VALUE;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamAttachMemAsync, ptsz,
                       (CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned int flags),
                       (stream, pointer, bytes, flags))
