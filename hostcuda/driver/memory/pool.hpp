// Memory pools: what a stream-ordered allocation is counted in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/device/handle_table.hpp"
#include "hostcuda/driver/memory/allocation_table.hpp"

namespace sluice::hostcuda {

// MemoryPool counts its allocations; the memory itself is the device's, handed back at each free.
// What a program asks it to keep for later (CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) is remembered and
// reported, no more: DeviceMemory keeps what is freed as it sees fit. Thread-safe.
class MemoryPool {
 public:
  // `kind` is that of its memory: device or managed.
  explicit MemoryPool(MemoryKind kind = MemoryKind::device) : kind_(kind) {}
  MemoryKind kind() const { return kind_; }
  CUresult get(CUmemPool_attribute attribute, void* value) const;
  CUresult set(CUmemPool_attribute attribute, const void* value);
  void add(size_t bytes);
  void remove(size_t bytes);
  size_t used() const;

 private:
  const MemoryKind kind_;
  mutable std::mutex mutex_;
  std::map<CUmemPool_attribute, int> reuse_ = {
      {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, 1},
      {CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 1},
      {CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 1}};
  uint64_t threshold_ = 0;
  uint64_t used_ = 0;
  uint64_t most_used_ = 0;
};

using PoolRef = std::shared_ptr<MemoryPool>;

// GraphMemoryTable knows the memory of graphs' allocation nodes: whether a launch has taken it into
// use, and whether its graph is gone. Thread-safe.
class GraphMemoryTable {
 public:
  void add(CUdeviceptr pointer);
  void use(CUdeviceptr pointer);
  // abandon() is the graph's end; true where the memory is in nobody's use and may be released.
  bool abandon(CUdeviceptr pointer);
  bool knows(CUdeviceptr pointer) const;
  enum class Freed { unknown, kept, last };  // no graph's memory; its graph's still; nobody's
  Freed free(CUdeviceptr pointer);

 private:
  struct State {
    bool in_use = false;
    bool abandoned = false;
  };
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, State> states_;
};

// Pools is every pool of the process, and which of them each allocation is counted in. Thread-safe.
struct Pools {
  Pools() { known.add(standard); }
  // own() counts an allocation in a pool.
  void own(CUdeviceptr pointer, const PoolRef& pool, size_t bytes);
  // in_use() is the pool that cuMemAllocAsync takes from.
  PoolRef in_use();
  void use(const PoolRef& pool);

  const PoolRef standard = std::make_shared<MemoryPool>();
  const PoolRef of_graphs = std::make_shared<MemoryPool>();
  HandleTable<MemoryPool, CUmemoryPool> known;
  GraphMemoryTable graph_memory;

 private:
  friend void disown_pooled(CUdeviceptr pointer);
  std::mutex mutex_;
  PoolRef current_ = standard;  // guarded by mutex_, as owners_
  std::map<CUdeviceptr, std::pair<PoolRef, size_t>> owners_;
};
Pools& pools();

// disown_pooled() ends the counting of an allocation that is freed; any other pointer is left
// alone.
void disown_pooled(CUdeviceptr pointer);
// release_pooled() ends it and frees the memory.
void release_pooled(AllocationTable& memory, CUdeviceptr pointer, MemoryKind kind);

// is_of_this_device() tells the one device that there is from the host and devices that are none.
inline bool is_of_this_device(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

// free_graph_memory() ends the use of a graph's memory; false where the pointer is none.
bool free_graph_memory(AllocationTable& memory, CUdeviceptr pointer);

}  // namespace sluice::hostcuda
