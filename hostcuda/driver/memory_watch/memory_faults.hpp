// What the threads of one launch did wrong, gathered until it has run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "hostcuda/driver/code/watched_kernel.hpp"
#include "hostcuda/driver/memory_watch/memory_watch.hpp"
#include "hostcuda/jit/watch/thread_events.hpp"

namespace sluice::hostcuda {

// MemoryFault is an access, or several of one line, that went wrong.
struct MemoryFault {
  uint32_t what = 0;
  ThreadAccess access;
  uint32_t block = 0;
  // The first and the last wrong byte, as addresses.
  uintptr_t first = 0, last = 0;
  std::shared_ptr<const WatchedAllocation> memory;  // null: none, or shared memory
  std::optional<ModuleVariableAt> variable;
  bool is_shared = false;  // it is to the block's shared memory, which lies here:
  uintptr_t shared_begin = 0;
  uint64_t shared_bytes = 0;

  uintptr_t memory_begin() const {
    return memory != nullptr ? memory->begin() : variable ? variable->begin : 0;
  }
  // join() adds the bytes of another one; of what happened the lowest block and thread stay.
  void join(MemoryFault other);
};

// MemoryFaults tells when it goes. Thread-safe.
class MemoryFaults {
 public:
  MemoryFaults(MemoryWatch& watch, const WatchedKernel& kernel, const uint32_t (&grid)[3]);
  ~MemoryFaults();
  MemoryFaults(const MemoryFaults&) = delete;

  MemoryWatch& watch() { return watch_; }
  const WatchedKernel& kernel() const { return kernel_; }
  void add(MemoryFault fault);

 private:
  void tell(const MemoryFault& fault, const ptx::SourceLines& lines);

  MemoryWatch& watch_;
  const WatchedKernel& kernel_;
  uint32_t grid_[3];
  std::mutex mutex_;
  // By what it is, the PTX line, and where the memory begins.
  std::map<std::tuple<uint32_t, uint32_t, uintptr_t>, MemoryFault> faults_;
};

}  // namespace sluice::hostcuda
