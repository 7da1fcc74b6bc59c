// Launches that need not be watched: equal ones were, and nothing was wrong.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostcuda/block_abi.h"
#include "hostcuda/driver/code/watched_kernel.hpp"
#include "hostcuda/driver/memory_watch/checked_bytes.hpp"
#include "hostcuda/driver/memory_watch/memory_watch.hpp"

namespace sluice::hostcuda {

// KnownLaunches remembers launches of data-oblivious kernels (jit/watch/data_oblivious.hpp): one
// with the same arguments has the same threads access the same bytes, in the same places between
// the same meetings. So it has no other races, and no other faults as long as the memory is there
// and what is read is written. Thread-safe.
class KnownLaunches {
 public:
  static KnownLaunches& get();

  // Key is what such a launch's accesses follow from.
  using Key = std::string;
  static Key key_of(const WatchedKernel& kernel, const SluiceBlockLaunch& launch);

  // is_right() is true of a launch that nothing can be wrong with. Its writes are then noted in
  // `memory`, as if it had been watched; null where nobody hears of memory.
  bool is_right(const Key& key, uint64_t call, MemoryWatch* memory);
  // learn() is for a launch that was watched to its end without a fault, and accessed these bytes.
  void learn(const Key& key, const CheckedBytes::Ranges& touched, MemoryWatch* memory);

 private:
  // Touched is bytes of one allocation, from where it begins.
  struct Touched {
    uintptr_t begin = 0;  // its address and number
    uint64_t id = 0;
    std::vector<Range> reads, writes;
  };
  using Launch = std::vector<Touched>;

  static std::optional<Launch> taken_apart(const CheckedBytes::Ranges& touched,
                                           const WatchedAllocations& all);

  std::mutex mutex_;
  std::unordered_map<Key, Launch> launches_;
  size_t ranges_ = 0;
};

}  // namespace sluice::hostcuda
