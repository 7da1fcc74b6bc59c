#include "schedule/tile_parts.hpp"

#include <algorithm>

#include "schedule/task_edges.hpp"

namespace sluice::schedule {

void TileParts::add(uint32_t launch) {
  const LaunchTasks& tasks = plan_.launches[launch];
  const size_t begin = starts_.size();
  for (uint32_t part = 0; part < tile_.parts; ++part)
    starts_.push_back(static_cast<uint32_t>(uint64_t{task_count(tasks)} * part / tile_.parts));
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
  const double tasks = task_count(plan_.launches[launch]);
  double longest = 0;
  for (uint32_t part = 1; part < tile_.parts; ++part)
    longest = std::max(longest, starts(launch)[part] / tasks - 1.0 * part / tile_.parts);
  return longest;
}

}  // namespace sluice::schedule
