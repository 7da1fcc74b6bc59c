// Threads of the program that sleep until work of the device is done.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "hostcuda/driver/stream/work.hpp"

namespace sluice::hostcuda {

// Sleepers wakes each thread when all its tickets are done, and not at each completion.
// Thread-safe.
class Sleepers {
 public:
  // sleep_until_done() returns when all of the tickets are done.
  void sleep_until_done(const std::vector<Ticket>& tickets);
  // wake() is called after each completion; it costs one load where nobody sleeps.
  void wake();

 private:
  struct Sleeper {
    const std::vector<Ticket>& tickets;
    std::condition_variable all_done;
  };

  std::mutex mutex_;
  std::vector<Sleeper*> sleepers_;  // guarded by mutex_
  std::atomic<uint32_t> count_{0};
};

}  // namespace sluice::hostcuda
