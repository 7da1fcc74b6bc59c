// Threads of a block that race, for `sluice check --only threads`.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "hostcuda/driver/memory/allocation_table.hpp"
#include "hostcuda/thread_race.h"

namespace sluice::hostcuda {

// ThreadWatch is who hears of races of the whole device. Thread-safe.
class ThreadWatch {
 public:
  // get() is null where nobody asked. watch() is false where somebody did before.
  static ThreadWatch* get();
  static bool watch(const AllocationTable& memory, SluiceThreadTold told, void* data);

  ThreadWatch(const AllocationTable& memory, SluiceThreadTold told, void* data)
      : memory_(memory), told_(told), data_(data) {}

  const AllocationTable& memory() const { return memory_; }
  // tell() tells of what was not told of that kernel and these lines.
  void tell(const SluiceThreadRace& race);

 private:
  const AllocationTable& memory_;
  const SluiceThreadTold told_;
  void* const data_;
  std::mutex mutex_;
  std::set<std::tuple<std::string, std::string, uint32_t, uint32_t>> told_of_;
};

}  // namespace sluice::hostcuda
