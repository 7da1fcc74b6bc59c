// The memory that the device knows: what it allocated, and host memory registered with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "hostcuda/driver/device/cuda_api.hpp"

namespace sluice::hostcuda {

class Context;

enum class MemoryKind {
  device,      // cuMemAlloc and its kin
  managed,     // cuMemAllocManaged
  array,       // the memory of a CUDA array
  host,        // cuMemHostAlloc, cuMemAllocHost
  mapped,      // cuMemMap's; its memory is no business of the table
  registered,  // the program's own, by cuMemHostRegister
  variable,    // a variable of a loaded module
};

// kind_text() is what a report calls it: "device memory".
const char* kind_text(MemoryKind kind);

// lies_in() says whether [first, first + count) lies in [begin, begin + bytes).
inline bool lies_in(uintptr_t first, size_t count, uintptr_t begin, size_t bytes) {
  return first >= begin && count <= bytes && first - begin <= bytes - count;
}

struct Allocation {
  uintptr_t address = 0;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;           // as the program gave them
  const void* owner = nullptr;  // the context, or the code that a variable belongs to
  uint64_t id = 0;              // unique in the process

  // covers() says whether [first, first + count) lies in the allocation.
  bool covers(uintptr_t first, size_t count) const { return lies_in(first, count, address, bytes); }
};

// AllocationListener hears of what a table allocates and releases, under the table's lock.
class AllocationListener {
 public:
  virtual ~AllocationListener() = default;
  // red_zone() is how many bytes stay unused behind an allocation of the table's own.
  virtual size_t red_zone(size_t bytes) const = 0;
  virtual void allocated(const Allocation& allocation) = 0;
  // released() is true where the listener takes over the memory, `taken` bytes of device_memory();
  // 0: it is not the table's.
  virtual bool released(const Allocation& allocation, size_t taken) = 0;
};

// AllocationTable owns what is allocated of the device's memory (hostcuda/memory). Thread-safe.
class AllocationTable {
 public:
  // `capacity` is how many bytes may be allocated as device and managed memory together.
  explicit AllocationTable(size_t capacity) : capacity_(capacity) {}

  // allocate() returns zeroed memory as DeviceMemory gives it, nothing where there is no more.
  std::optional<uintptr_t> allocate(MemoryKind kind, size_t bytes, unsigned flags,
                                    const void* owner);

  // add() enters memory that somebody else owns; false where it overlaps what is entered already.
  bool add(const Allocation& allocation);

  // find() returns the allocation that holds the address.
  std::optional<Allocation> find(uintptr_t address) const;

  // release() forgets the allocation that starts at the address, if it is of the kind, and frees
  // its memory where the table owns it; false where there is none.
  bool release(uintptr_t address, MemoryKind kind);
  // release_owned_by() releases everything of one owner.
  void release_owned_by(const void* owner);

  // for_each_host_reachable() calls visit(const Allocation&) for managed, pinned and registered
  // memory, under the table's lock.
  template <class Visit>
  void for_each_host_reachable(Visit&& visit) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [address, allocation] : allocations_) {
      const MemoryKind kind = allocation.kind;
      if (kind == MemoryKind::managed || kind == MemoryKind::host || kind == MemoryKind::registered)
        visit(allocation);
    }
  }

  // keep_pages_apart() says, before anything is allocated, that managed and pinned memory gets
  // whole pages.
  static constexpr size_t page_bytes = 4096;
  void keep_pages_apart() { keeps_pages_apart_ = true; }

  // listen() says, before anything is allocated, who hears of it.
  void listen(AllocationListener* listener) { listener_ = listener; }

  size_t capacity() const { return capacity_; }
  size_t used() const;

 private:
  using Map = std::map<uintptr_t, Allocation>;

  size_t taken_bytes(MemoryKind kind, size_t bytes) const;
  bool overlaps(uintptr_t address, size_t bytes) const;
  Map::iterator erase(Map::iterator place);

  const size_t capacity_;
  mutable std::shared_mutex mutex_;
  Map allocations_;  // by address
  size_t used_ = 0;
  uint64_t last_id_ = 0;
  bool keeps_pages_apart_ = false;
  AllocationListener* listener_ = nullptr;
};

}  // namespace sluice::hostcuda
