// Allocation of device, managed and host memory.
#include <algorithm>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

#include "base/keep_errno.hpp"
#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/memory/pool.hpp"
#include "hostcuda/driver/memory_watch/memory_watch.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult allocate(Driver& driver, Context& context, MemoryKind kind, size_t bytes, unsigned flags,
                  CUdeviceptr* pointer) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::optional<uintptr_t> address = driver.memory.allocate(kind, bytes, flags, &context);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = *address;
  return CUDA_SUCCESS;
}

CUresult allocate_host(void** pointer, size_t bytes, unsigned flags) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    constexpr unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (pointer == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    const CUresult result = allocate(driver, context, MemoryKind::host, bytes, flags, &address);
    if (result == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(address);
    return result;
  });
}

// is_mapped() is true where the process has memory at all of these addresses. With MS_ASYNC the
// kernel only looks whether it has.
bool is_mapped(uintptr_t address, size_t bytes) {
  const sluice::KeepErrno keep;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = address - address % page;
  return msync(reinterpret_cast<void*>(begin), address + bytes - begin, MS_ASYNC) == 0;
}

// release_freeable() frees what cuMemFree may free.
bool release_freeable(Driver& driver, CUdeviceptr pointer) {
  return driver.memory.release(pointer, MemoryKind::device) ||
         driver.memory.release(pointer, MemoryKind::managed);
}

bool is_freeable(Driver& driver, CUdeviceptr pointer) {
  const std::optional<Allocation> allocation = driver.memory.find(pointer);
  const bool is_freeable =
      allocation && allocation->address == pointer &&
      (allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::managed);
  note_free(pointer, is_freeable);
  return is_freeable;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const size_t capacity = driver.memory.capacity();
    if (free != nullptr) {
      *free = std::min(capacity - driver.memory.used(), driver.properties.free_memory_bytes());
    }
    if (total != nullptr) *total = capacity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  return with_context([&](Driver& driver, Context& context) {
    return allocate(driver, context, MemoryKind::device, bytes, 0, pointer);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int element_bytes) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    const bool element_is_known = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (pitch == nullptr || width == 0 || height == 0 || !element_is_known) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    size_t row = 0;
    size_t bytes = 0;
    if (__builtin_add_overflow(width, limits::pitch_alignment - 1, &row)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    row -= row % limits::pitch_alignment;
    if (__builtin_mul_overflow(row, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = allocate(driver, context, MemoryKind::device, bytes, 0, pointer);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return allocate(driver, context, MemoryKind::managed, bytes, flags, pointer);
  });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    if (pointer == 0) return CUDA_SUCCESS;
    if (!is_freeable(driver, pointer)) return CUDA_ERROR_INVALID_VALUE;
    return driver.when_all_done([&driver, pointer] {
      if (free_graph_memory(driver.memory, pointer)) return;
      disown_pooled(pointer);
      release_freeable(driver, pointer);
    });
  });
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return allocate_host(pointer, bytes, flags);
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return allocate_host(pointer, bytes, 0);
}

CUresult cuMemFreeHost(void* pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::optional<Allocation> allocation = driver.memory.find(address);
    const bool is_freeable =
        allocation && allocation->address == address && allocation->kind == MemoryKind::host;
    note_free(address, is_freeable);
    if (!is_freeable) return CUDA_ERROR_INVALID_VALUE;
    return driver.when_all_done(
        [&driver, address] { driver.memory.release(address, MemoryKind::host); });
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_pointer, void* pointer,
                                      unsigned int flags) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::optional<Allocation> allocation = driver.memory.find(address);
    const bool is_host = allocation && (allocation->kind == MemoryKind::host ||
                                        allocation->kind == MemoryKind::registered);
    if (device_pointer == nullptr || flags != 0 || !is_host) return CUDA_ERROR_INVALID_VALUE;
    *device_pointer = address;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::optional<Allocation> allocation =
        driver.memory.find(reinterpret_cast<uintptr_t>(pointer));
    if (flags == nullptr || !allocation || allocation->kind != MemoryKind::host) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = allocation->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                               CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (pointer == nullptr || bytes == 0 || bytes > UINTPTR_MAX - address ||
        (flags & ~known) != 0 || !is_mapped(address, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const bool added = driver.memory.add({.address = address,
                                          .bytes = bytes,
                                          .kind = MemoryKind::registered,
                                          .flags = flags,
                                          .owner = &context});
    return added ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  });
}
SLUICE_OLDER_FORM(cuMemHostRegister, cuMemHostRegister_v2)

CUresult cuMemHostUnregister(void* pointer) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::optional<Allocation> allocation = driver.memory.find(address);
    if (!allocation || allocation->address != address ||
        allocation->kind != MemoryKind::registered) {
      return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    return driver.when_all_done(
        [&driver, address] { driver.memory.release(address, MemoryKind::registered); });
  });
}
