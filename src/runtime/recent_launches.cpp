// What was found of a kernel's last launches, for those that come again.
#include <algorithm>
#include <cstring>

#include "runtime/state.hpp"

namespace sluice::runtime {

namespace {

// std::vector compares these bytes one by one.
bool are_equal(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

// A program launches a kernel again with the same arguments, or with those of a few launches ago.
bool Runtime::State::recall(const LaunchCall& call, Function& function) {
  for (RecentLaunch& recent : function.recent) {
    if (recent.memory_changes != memory_changes_ || !are_equal(recent.parameters, parameters_) ||
        recent.grid != call.grid || recent.block != call.block ||
        recent.dynamic_shared_bytes != call.dynamic_shared_bytes ||
        !tracker_.has_footprint(recent.bound.footprint->id)) {
      continue;
    }
    bound_ = &recent.bound;
    return true;
  }
  return false;
}

void Runtime::State::remember(const LaunchCall& call, Function& function) {
  // Checks need the pointers too, and a variable's place is asked for at each launch.
  const auto& pointers = function.kernel->model->signature().pointers;
  if (check_ != nullptr || races_ != nullptr ||
      std::ranges::any_of(pointers, &analysis::ParameterSlot::is_variable)) {
    return;
  }
  RecentLaunch& recent = function.recent[function.next_recent++ % function.recent.size()];
  recent.memory_changes = memory_changes_;
  recent.parameters = parameters_;
  recent.grid = call.grid;
  recent.block = call.block;
  recent.dynamic_shared_bytes = call.dynamic_shared_bytes;
  recent.bound = *bound_;
  bound_ = &recent.bound;
}

}  // namespace sluice::runtime
