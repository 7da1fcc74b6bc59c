// Launches that come together, to the policy.
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

bool Policy::Row::may_go(const Policy& policy) const {
  if (policy.habit_.is_alone()) return false;
  if (!policy.compares()) return true;
  switch (phase->step) {
    case Step::gathering:
      return !phase->is_measured(policy);
    case Step::probing:
      return false;
    case Step::awaiting:
    case Step::overdue:
      return true;
    case Step::decided:
      return !phase->is_aside && policy.now() < phase->decided + phase->again;
  }
  return false;
}

void Policy::Row::count(Policy& policy, Sample& sample, int64_t called) const {
  policy.phase_ = phase;
  policy.way_ = Way::tasks;
  phase->launches += launches;
  if (sample.launches == 0) {
    sample = {.phase = phase, .round = phase->round, .began = called != 0 ? called : policy.now()};
  }
  sample.launches += launches;
  if (sample.phase != nullptr) sample.phase->add_tasks(launches);
  sample.work += work;
}

}  // namespace sluice::runtime
