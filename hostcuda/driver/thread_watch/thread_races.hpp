// The races of one launch, gathered until it has run.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "hostcuda/driver/code/watched_kernel.hpp"
#include "hostcuda/driver/thread_watch/thread_watch.hpp"
#include "hostcuda/driver/thread_watch/touched_bytes.hpp"

namespace sluice::hostcuda {

// SharedMemory is that of one block.
struct SharedMemory {
  uintptr_t begin = 0;
  uint64_t bytes = 0;
  bool holds(uintptr_t address) const { return address - begin < bytes; }
};

// ThreadRaces tells when it goes. Thread-safe.
class ThreadRaces {
 public:
  ThreadRaces(ThreadWatch& watch, const WatchedKernel& kernel, const uint32_t (&grid)[3]);
  ~ThreadRaces();
  ThreadRaces(const ThreadRaces&) = delete;

  void add(const Conflict& conflict, uint32_t block, const SharedMemory& shared);

 private:
  struct Memory {
    const char* kind = nullptr;  // null: the block's shared memory
    uint64_t begin = 0;
    uint64_t bytes = 0;
  };
  struct Race {
    Conflict first;  // bytes: of all
    uint32_t block = 0;
    Memory memory;
    bool is_between_lanes = true;
    // join() adds the bytes of another race of the same lines.
    void join(const Race& other);
  };

  void tell(const Race& race, const ptx::SourceLines& lines);

  ThreadWatch& watch_;
  const WatchedKernel& kernel_;
  uint32_t grid_[3];
  std::mutex mutex_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Race> races_;  // by lines and memory
};

}  // namespace sluice::hostcuda
