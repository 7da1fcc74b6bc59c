// What a block's threads copy by cp.async and have not waited for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hostcuda/driver/thread_watch/touched_bytes.hpp"

namespace sluice::hostcuda {

// AsyncCopies finds accesses to what a copy may still write, also by the thread that began it: no
// barrier waits for copies. Not thread-safe.
class AsyncCopies {
 public:
  explicit AsyncCopies(TouchedBytes& touched) : touched_(touched) {}

  void begin_block();
  void commit(uint32_t thread) { ++of_[thread].committed; }
  // waited() ends the thread's copies of all groups but the last so many: from then on they are
  // stores that it has made.
  void waited(uint32_t thread, uint32_t groups);
  // accesses() comes before the access is noted as any other.
  void accesses(const ThreadAccess& access) {
    if (pending_ != 0 || (access.kind & access_kind::is_async) != 0) meet(access);
  }

 private:
  struct Copy {
    ThreadAccess store;
    uint32_t group = 0;
  };
  struct Thread {
    uint32_t committed = 0;
    std::vector<Copy> copies;
  };

  void meet(const ThreadAccess& access);

  TouchedBytes& touched_;
  std::unordered_map<uint32_t, Thread> of_;  // by thread; only those that copy
  size_t pending_ = 0;
};

}  // namespace sluice::hostcuda
