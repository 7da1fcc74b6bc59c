#include "megakernel/host/host_executor.hpp"

#include "base/processors.hpp"

namespace sluice::megakernel {

HostExecutor::HostExecutor(uint32_t workers, Starvation* starvation)
    : work_(workers != 0 ? workers : available_processors(), starvation),
      team_(work_.workers(), [this](uint32_t worker) {
        if (worker == 0) return lead();
        work_.run(worker);
      }) {}

// The calling thread calls the others, unless it is to go alone and until it no longer is.
void HostExecutor::lead() {
  for (bool is_done = false; !is_done;) {
    const bool alone = work_.goes_alone();
    if (!alone) team_.call();
    is_done = work_.run(0, alone);
  }
}

// Every ticket was taken by the calling thread or by one that joined, so when the team has run
// every task is done.
void HostExecutor::run(const Window& window, TaskTimes* times) {
  if (window.plan.tasks.empty()) return;
  work_.open(window, times);
  if (team_.size() == 1 || window.plan.tasks.size() == 1) {
    work_.run_alone();
  } else {
    team_.run();
  }
  work_.close();
}

}  // namespace sluice::megakernel
