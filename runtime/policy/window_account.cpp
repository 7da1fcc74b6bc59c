#include "runtime/policy/window_account.hpp"

namespace sluice::runtime {
namespace {

// Nanoseconds of the program's thread for each launch and each task of a window: plan and tables. A
// task counts as one of an order that has to be listed; others cost next to nothing.
constexpr uint64_t planning_of_a_launch = 1'200;
constexpr uint64_t planning_of_a_task = 20;

}  // namespace

void WindowAccount::add(const schedule::Planner::Share& launch) {
  const uint64_t tasks = launch.tasks * planning_of_a_task;
  ++launches_;
  planning_ += planning_of_a_launch + tasks;
  working_ += launch.nanoseconds != 0 ? launch.nanoseconds : tasks;
}

bool WindowAccount::pays(const megakernel::WindowBackend::Costs& costs) const {
  if (launches_ < 2) return false;
  const uint64_t spared = launches_ * static_cast<uint64_t>(costs.plain_launch);
  return spared > static_cast<uint64_t>(costs.window) && spared + working_ > planning_;
}

}  // namespace sluice::runtime
