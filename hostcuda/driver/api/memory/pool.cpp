// Stream-ordered allocation and memory pools.
#include "hostcuda/driver/memory/pool.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/graph/capture.hpp"
#include "hostcuda/driver/graph/graph.hpp"
#include "hostcuda/driver/graph/graph_memory.hpp"
#include "hostcuda/driver/memory_watch/memory_watch.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

CUmemoryPool handle_of(const PoolRef& pool) {
  return reinterpret_cast<CUmemoryPool>(pool.get());
}

template <class Body>
CUresult with_pool(CUmemoryPool handle, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    const PoolRef pool = pools().known.find(handle);
    return pool == nullptr ? CUDA_ERROR_INVALID_VALUE : body(driver, pool);
  });
}

// kind_of() is nothing for pools that the device does not have.
std::optional<MemoryKind> kind_of(const CUmemPoolProps& properties) {
  const bool is_here = is_of_this_device(properties.location);
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED)
    return is_here ? std::optional(MemoryKind::device) : std::nullopt;
  // Where its memory is best, which makes no difference here.
  const bool is_place = is_here || properties.location.type == CU_MEM_LOCATION_TYPE_NONE ||
                        properties.location.type == CU_MEM_LOCATION_TYPE_HOST ||
                        properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  if (properties.allocType != CU_MEM_ALLOCATION_TYPE_MANAGED || !is_place) return std::nullopt;
  return MemoryKind::managed;
}

CUresult allocate_in_stream(CUstream handle, size_t bytes, const PoolRef& pool,
                            CUdeviceptr* pointer) {
  return with_stream(
      handle, [&](Driver& driver, Context& context, const StreamRef& stream) -> CUresult {
        if (!is_captured(stream)) return allocate_pooled(driver, &context, bytes, pool, pointer);
        // An allocation node says which device its memory is of.
        if (pool->kind() == MemoryKind::managed) return CUDA_ERROR_NOT_SUPPORTED;
        SharedOperation operation;
        const CUresult result = make_graph_memory(driver, bytes, pointer, &operation);
        if (result != CUDA_SUCCESS) return result;
        const std::shared_ptr<GraphNode> node = add_to_capture(stream, std::move(operation));
        if (node == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
        node->memory = *pointer;
        return CUDA_SUCCESS;
      });
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  return guarded([&] { return allocate_in_stream(stream, bytes, pools().in_use(), pointer); });
}
SLUICE_PER_THREAD_FORM(cuMemAllocAsync, ptsz,
                       (CUdeviceptr * pointer, size_t bytes, CUstream stream),
                       (pointer, bytes, stream))

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool handle,
                                 CUstream stream) {
  return with_pool(handle, [&](Driver&, const PoolRef& pool) {
    return allocate_in_stream(stream, bytes, pool, pointer);
  });
}
SLUICE_PER_THREAD_FORM(cuMemAllocFromPoolAsync, ptsz,
                       (CUdeviceptr * pointer, size_t bytes, CUmemoryPool handle, CUstream stream),
                       (pointer, bytes, handle, stream))

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    if (pointer == 0) return CUDA_SUCCESS;
    const std::optional<Allocation> allocation = driver.memory.find(pointer);
    const bool is_freeable =
        allocation && allocation->address == pointer &&
        (allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::managed);
    if (!is_captured(stream)) note_free(pointer, is_freeable);
    if (!is_freeable) return CUDA_ERROR_INVALID_VALUE;
    if (is_captured(stream)) {
      const std::shared_ptr<GraphNode> node =
          add_to_capture(stream, make_graph_free(driver, pointer));
      if (node != nullptr) node->memory = pointer;
      return CUDA_SUCCESS;
    }
    driver.engine.submit(stream->queue, [&driver, pointer, kind = allocation->kind] {
      if (free_graph_memory(driver.memory, pointer)) return;
      release_pooled(driver.memory, pointer, kind);
    });
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuMemFreeAsync, ptsz, (CUdeviceptr pointer, CUstream stream),
                       (pointer, stream))

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return with_device(device, [&](Driver&) -> CUresult {
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pool = handle_of(pools().standard);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return with_device(device, [&](Driver&) -> CUresult {
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pool = handle_of(pools().in_use());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  return with_device(device, [&](Driver&) {
    return with_pool(handle, [](Driver&, const PoolRef& pool) -> CUresult {
      pools().use(pool);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
  return with_driver([&](Driver&) -> CUresult {
    if (handle == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::optional<MemoryKind> kind = kind_of(*properties);
    if (!kind) return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
      log::error(
          "a memory pool shared with other processes is unsupported on the CPU device; ask "
          "for no handle type");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    *handle = pools().known.add(std::make_shared<MemoryPool>(*kind));
    return CUDA_SUCCESS;
  });
}

// What was allocated of the pool stays until it is freed.
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return with_pool(handle, [&](Driver&, const PoolRef& pool) -> CUresult {
    Pools& all = pools();
    if (pool == all.standard) return CUDA_ERROR_INVALID_VALUE;
    all.known.remove(handle);
    if (all.in_use() == pool) all.use(all.standard);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return with_pool(handle, [&](Driver&, const PoolRef& pool) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : pool->get(attribute, value);
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return with_pool(handle, [&](Driver&, const PoolRef& pool) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : pool->set(attribute, value);
  });
}

// Nothing is held back that could be given back.
CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t) {
  return with_pool(handle, [](Driver&, const PoolRef&) { return CUDA_SUCCESS; });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptions,
                            size_t count) {
  return with_pool(handle, [&](Driver&, const PoolRef&) -> CUresult {
    if (descriptions == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      if (!is_of_this_device(descriptions[i].location)) return CUDA_ERROR_INVALID_DEVICE;
      // The owner's own access cannot be taken away.
      if (descriptions[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                            CUmemLocation* location) {
  return with_pool(handle, [&](Driver&, const PoolRef&) -> CUresult {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = is_of_this_device(*location) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                          : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}
