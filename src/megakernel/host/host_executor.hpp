// The megakernel on CPU threads: workers take tickets, wait for flags, run blocks, release flags.
#pragma once

#include <memory>

#include "megakernel/layout.hpp"

namespace sluice::megakernel {

class TaskTimes;

// HostExecutor owns the workers. Waiting workers spin for at most 50 microseconds, then sleep;
// between windows they take no CPU time.
class HostExecutor {
 public:
  struct Config {
    uint32_t workers = 0;  // 0: one for each processor this process may run on
    Config& set_workers(uint32_t count) {
      workers = count;
      return *this;
    }
  };

  explicit HostExecutor(const Config& config);
  ~HostExecutor();

  uint32_t workers() const;

  // run() executes the window and returns when its last block is done; the calling thread works
  // too. One call at a time. Flags hold the epoch of the window that last set them, so nothing is
  // cleared between windows. What a block throws ends the window early (tasks not yet begun are
  // left out) and is thrown here. `times`, made for workers() workers, is told when each task ran;
  // null costs nothing.
  void run(const Window& window, TaskTimes* times = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::megakernel
