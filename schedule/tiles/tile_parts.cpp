#include "schedule/tiles/tile_parts.hpp"

#include <algorithm>

#include "schedule/task_edges.hpp"

namespace sluice::schedule {

void TileParts::add(uint32_t launch) {
  const LaunchTasks& tasks = plan_.launches[launch];
  const size_t begin = starts_.size();
  for (uint32_t part = 0; part < tile_.parts; ++part)
    starts_.push_back(equal_start(tasks, part));
  if (tile_.parts == 1) return;
  for (const Dependence& dependence : plan_.dependences_of(tasks)) {
    if (dependence.master < tile_.first) continue;
    const SweptEdges edges(*dependence.task_edges, tile_.is_backward);
    const std::span<const uint32_t> masters = starts(dependence.master);
    for (uint32_t part = 1; part < tile_.parts; ++part)
      starts_[begin + part] = std::max(starts_[begin + part], edges.first_beyond(masters[part]));
  }
}

double TileParts::longest_drift(uint32_t launch) const {
  const LaunchTasks& tasks = plan_.launches[launch];
  if (task_count(tasks) == 1) return 0;
  uint32_t longest = 0;
  for (uint32_t part = 1; part < tile_.parts; ++part)
    longest = std::max(longest, starts(launch)[part] - equal_start(tasks, part));
  return longest / (tasks.extent * task_count(tasks));
}

uint32_t TileParts::equal_start(const LaunchTasks& launch, uint32_t part) const {
  const double tasks = task_count(launch);
  const double start = tasks * launch.extent * part / tile_.parts - tasks * begin_of(launch, tile_);
  return static_cast<uint32_t>(std::clamp(start, 0.0, tasks));
}

}  // namespace sluice::schedule
