// What is told when the first launches of a window are done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "megakernel/window.hpp"

namespace sluice::megakernel {

// Milestones of the window that an executor runs: each is reached when all tasks of the launches
// before it are done, and no earlier than the milestones before it. No task waits for one, so they
// change nothing of the order. Thread-safe but for open() and close().
class Milestones {
 public:
  // open() begins a window, while no worker is in one. Throws std::bad_alloc.
  void open(const Window& window);

  // done() says that a task of that launch is done.
  void done(uint32_t launch) {
    if (launch >= stretch_of_.size()) return;
    const uint32_t stretch = stretch_of_[launch];
    if (left_[stretch].fetch_sub(1, std::memory_order_acq_rel) == 1) advance();
  }

  // close() ends the window: what has not been reached is.
  void close();

 private:
  void advance();

  const Window* window_ = nullptr;
  // A stretch is the launches between two milestones; those after the last one are in none.
  std::vector<uint32_t> stretch_of_;
  std::unique_ptr<std::atomic<uint32_t>[]> left_;  // tasks of each stretch
  size_t capacity_ = 0;
  std::mutex mutex_;
  size_t next_ = 0;  // the first that is not reached; guarded by mutex_
};

}  // namespace sluice::megakernel
