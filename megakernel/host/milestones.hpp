// What is told when some launches of a window are done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "megakernel/window.hpp"

namespace sluice::megakernel {

// Milestones of the window that an executor runs. No task waits for one, so they change nothing of
// the order. Thread-safe but for open() and close().
class Milestones {
 public:
  // open() begins a window, while no worker is in one, and reaches what has nothing to wait for.
  // Throws std::bad_alloc.
  void open(const Window& window);

  // done() says that a task of that launch is done.
  void done(uint32_t launch) {
    if (window_ == nullptr || launch >= window_->milestone_of.size()) return;
    const uint32_t milestone = window_->milestone_of[launch];
    if (milestone != no_milestone && counts_down(milestone)) reach(milestone);
  }

  // close() ends the window: what has not been reached is.
  void close();

 private:
  // Whoever counts to nothing sees all that others have done before they counted.
  bool counts_down(uint32_t milestone) {
    return left_[milestone].fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  void reach(uint32_t milestone);

  const Window* window_ = nullptr;
  // What each waits for: tasks, milestones, and open().
  std::unique_ptr<std::atomic<uint32_t>[]> left_;
  size_t capacity_ = 0;
  std::vector<std::vector<uint32_t>> before_;  // the milestones that come after each
};

}  // namespace sluice::megakernel
