#include "megakernel/host/task_signals.hpp"

#include "base/assert.hpp"
#include "schedule/task_edges.hpp"

namespace sluice::megakernel {

void TaskSignals::open(const schedule::Plan& plan) {
  ++epoch_;
  flags_.open(plan.flag_count);
  if (plan.launches.size() > counter_capacity_) {
    counters_ = std::make_unique<TaskCounter[]>(plan.launches.size());
    counter_capacity_ = plan.launches.size();
  }
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    counters_[i].finished.store(0);
    counters_[i].total = task_count(plan.launches[i]);
    counters_[i].counting = false;
  }
  for (const schedule::Dependence& dependence : plan.dependences) {
    SLUICE_ASSERT(dependence.task_edges != nullptr);
    if (dependence.task_edges->waits_for_launch()) counters_[dependence.master].counting = true;
  }
}

bool TaskSignals::done(uint32_t launch, uint32_t flag) {
  flags_.set(flag, epoch_);
  bool woke = place(flag).notify();
  TaskCounter& counter = counters_[launch];
  if (counter.counting && counter.finished.fetch_add(1) + 1 == counter.total)
    woke = launch_place(launch).notify() || woke;
  return woke;
}

}  // namespace sluice::megakernel
