// The megakernel on CPU threads: workers take tickets, wait for flags, run blocks, release flags.
#pragma once

#include <cstdint>

#include "megakernel/host/starvation.hpp"
#include "megakernel/host/task_times.hpp"
#include "megakernel/host/team.hpp"
#include "megakernel/host/window_work.hpp"
#include "megakernel/window.hpp"

namespace sluice::megakernel {

// HostExecutor owns the workers. Waiting workers spin for at most 50 microseconds, then sleep;
// between windows they take no CPU time.
class HostExecutor {
 public:
  // 0 workers: one for each processor this process may run on. `starvation` says when the calling
  // thread goes on alone, and outlives the executor; null: it never does.
  explicit HostExecutor(uint32_t workers, Starvation* starvation = nullptr);

  uint32_t workers() const { return team_.size(); }

  // run() executes the window and returns when its last block is done; the calling thread works
  // too. One call at a time. Flags hold the epoch of the window that last set them, so nothing is
  // cleared between windows. What a block throws ends the window early (tasks not yet begun are
  // left out) and is thrown here. `times`, made for workers() workers, is told when each task ran;
  // null costs nothing.
  void run(const Window& window, TaskTimes* times = nullptr);

 private:
  void lead();

  WindowWork work_;
  Team team_;
};

}  // namespace sluice::megakernel
