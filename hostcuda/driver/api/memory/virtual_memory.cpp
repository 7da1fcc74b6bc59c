// Virtual memory management: addresses, memory and access apart. Memory is an anonymous file,
// mapped where the program wants it.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

#include "base/number/divide_up.hpp"
#include "hostcuda/driver/api/entry.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

constexpr size_t granularity = size_t{2} << 20;

// PhysicalMemory is what cuMemCreate makes. Mappings keep it.
struct PhysicalMemory {
  int file = -1;
  size_t bytes = 0;
  CUmemAllocationProp properties = {};
  std::atomic<int> users{1};  // handles of the program

  PhysicalMemory() = default;
  PhysicalMemory(const PhysicalMemory&) = delete;
  ~PhysicalMemory() {
    if (file >= 0) close(file);
  }
};

using MemoryRef = std::shared_ptr<PhysicalMemory>;

// Reservation is a range of addresses; Mapping a part of one with memory.
struct Mapping {
  size_t bytes = 0;
  MemoryRef memory;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

struct VirtualMemory {
  std::mutex mutex;
  HandleTable<PhysicalMemory, CUmemGenericAllocationHandle> memories;
  std::map<uintptr_t, size_t> reservations;  // guarded by mutex, as mappings
  std::map<uintptr_t, Mapping> mappings;

  bool is_reserved(uintptr_t address, size_t bytes) const {
    auto next = reservations.upper_bound(address);
    if (next == reservations.begin()) return false;
    const auto& [start, size] = *std::prev(next);
    return bytes <= size && address - start <= size - bytes;
  }
  bool is_mapped(uintptr_t address, size_t bytes) const {
    auto next = mappings.lower_bound(address);
    if (next != mappings.end() && next->first - address < bytes) return true;
    if (next == mappings.begin()) return false;
    const auto& [start, mapping] = *std::prev(next);
    return address - start < mapping.bytes;
  }
};

VirtualMemory& virtual_memory() {
  static auto* state = new VirtualMemory;
  return *state;
}

bool is_aligned(size_t value) {
  return value % granularity == 0;
}

void* as_pointer(uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

int protection(CUmemAccess_flags access) {
  if (access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return PROT_READ | PROT_WRITE;
  return access == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_NONE;
}

bool is_of_this_device(const CUmemAllocationProp& properties) {
  return properties.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties.location.id == 0;
}

// Puts an address range back to what a reservation is.
bool take_away(uintptr_t address, size_t bytes) {
  return mmap(as_pointer(address), bytes, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return with_driver([&](Driver&) -> CUresult {
    if (bytes == nullptr || properties == nullptr || !is_of_this_device(*properties)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *bytes = granularity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return with_driver([&](Driver&) -> CUresult {
    const bool power_of_two = (alignment & (alignment - 1)) == 0;
    if (pointer == nullptr || bytes == 0 || !is_aligned(bytes) || !power_of_two || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const size_t wanted = std::max(alignment, granularity);
    size_t whole = 0;
    if (__builtin_add_overflow(bytes, wanted, &whole)) return CUDA_ERROR_OUT_OF_MEMORY;
    void* memory =
        mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    const auto start = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t address = round_up(start, wanted);
    if (address != start) munmap(memory, address - start);
    munmap(as_pointer(address + bytes), start + whole - address - bytes);
    VirtualMemory& state = virtual_memory();
    const std::lock_guard lock(state.mutex);
    state.reservations[address] = bytes;
    *pointer = address;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  return with_driver([&](Driver&) -> CUresult {
    VirtualMemory& state = virtual_memory();
    const std::lock_guard lock(state.mutex);
    const auto found = state.reservations.find(pointer);
    if (found == state.reservations.end() || found->second != bytes ||
        state.is_mapped(pointer, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    state.reservations.erase(found);
    munmap(as_pointer(pointer), bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return with_driver([&](Driver&) -> CUresult {
    if (handle == nullptr || properties == nullptr || bytes == 0 || !is_aligned(bytes) ||
        flags != 0 || !is_of_this_device(*properties)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
      log::error(
          "memory shared with other processes is unsupported on the CPU device; ask for no handle "
          "type");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    auto memory = std::make_shared<PhysicalMemory>();
    memory->bytes = bytes;
    memory->properties = *properties;
    memory->file = memfd_create("sluice-device-memory", MFD_CLOEXEC);
    if (memory->file < 0 || ftruncate(memory->file, static_cast<off_t>(bytes)) != 0) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = virtual_memory().memories.add(std::move(memory));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with_driver([&](Driver&) -> CUresult {
    VirtualMemory& state = virtual_memory();
    const MemoryRef memory = state.memories.find(handle);
    if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (memory->users.fetch_sub(1) == 1) state.memories.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    VirtualMemory& state = virtual_memory();
    const MemoryRef memory = state.memories.find(handle);
    const std::lock_guard lock(state.mutex);
    if (memory == nullptr || flags != 0 || offset != 0 || bytes != memory->bytes ||
        !is_aligned(pointer) || !state.is_reserved(pointer, bytes) ||
        state.is_mapped(pointer, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (mmap(as_pointer(pointer), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file, 0) ==
        MAP_FAILED) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    state.mappings[pointer] = {bytes, memory};
    driver.memory.add(
        {.address = pointer, .bytes = bytes, .kind = MemoryKind::mapped, .owner = &context});
    return CUDA_SUCCESS;
  });
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  return with_driver([&](Driver& driver) -> CUresult {
    driver.wait_for_all();
    VirtualMemory& state = virtual_memory();
    const std::lock_guard lock(state.mutex);
    size_t left = bytes;
    for (auto next = state.mappings.find(pointer); left != 0; ++next) {
      if (next == state.mappings.end() || next->second.bytes > left ||
          next->first != pointer + (bytes - left)) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      left -= next->second.bytes;
    }
    for (auto next = state.mappings.find(pointer);
         next != state.mappings.end() && next->first < pointer + bytes;) {
      driver.memory.release(next->first, MemoryKind::mapped);
      take_away(next->first, next->second.bytes);
      next = state.mappings.erase(next);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* descriptions,
                        size_t count) {
  return with_driver([&](Driver&) -> CUresult {
    if (descriptions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    VirtualMemory& state = virtual_memory();
    const std::lock_guard lock(state.mutex);
    for (size_t i = 0; i < count; ++i) {
      const CUmemAccessDesc& wanted = descriptions[i];
      if (wanted.location.type == CU_MEM_LOCATION_TYPE_DEVICE && wanted.location.id != 0) {
        return CUDA_ERROR_INVALID_DEVICE;
      }
      for (auto& [address, mapping] : state.mappings) {
        if (address < pointer || address - pointer >= bytes) continue;
        if (mapping.bytes > bytes - (address - pointer)) return CUDA_ERROR_INVALID_VALUE;
        if (mprotect(as_pointer(address), mapping.bytes, protection(wanted.flags)) != 0) {
          return CUDA_ERROR_OPERATING_SYSTEM;
        }
        mapping.access = wanted.flags;
      }
    }
    return state.is_mapped(pointer, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
  return with_driver([&](Driver&) -> CUresult {
    VirtualMemory& state = virtual_memory();
    const std::lock_guard lock(state.mutex);
    if (flags == nullptr || location == nullptr || !state.is_mapped(pointer, 1)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = std::prev(state.mappings.upper_bound(pointer))->second.access;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return with_driver([&](Driver&) -> CUresult {
    const MemoryRef memory = virtual_memory().memories.find(handle);
    if (properties == nullptr || memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = memory->properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  return with_driver([&](Driver&) -> CUresult {
    VirtualMemory& state = virtual_memory();
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::lock_guard lock(state.mutex);
    if (handle == nullptr || !state.is_mapped(address, 1)) return CUDA_ERROR_INVALID_VALUE;
    const MemoryRef& memory = std::prev(state.mappings.upper_bound(address))->second.memory;
    memory->users.fetch_add(1);
    *handle = state.memories.add(memory);
    return CUDA_SUCCESS;
  });
}
