#include "megakernel/cuda/tables/task_groups.hpp"

#include <algorithm>

namespace sluice::megakernel {
namespace {

using schedule::TaskRange;

// Flags are polled by several lanes at once; below this there is nothing to be saved.
constexpr uint32_t least_tasks = 4;

}  // namespace

std::optional<TaskGroups> find_task_groups(const dro::RangeEdges& edges,
                                           uint32_t master_blocks_per_task) {
  if (edges.ranges.empty()) return std::nullopt;
  std::vector<TaskRange> runs;
  runs.reserve(edges.ranges.size());
  for (const dro::BlockRange& range : edges.ranges) {
    runs.push_back({range.first / master_blocks_per_task, range.last / master_blocks_per_task});
    if (runs.back().last - runs.back().first + 1 < least_tasks) return std::nullopt;
  }
  TaskGroups result;
  result.groups = runs;
  const auto before = [](const TaskRange& a, const TaskRange& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  };
  std::sort(result.groups.begin(), result.groups.end(), before);
  result.groups.erase(std::unique(result.groups.begin(), result.groups.end()), result.groups.end());
  for (size_t i = 1; i < result.groups.size(); ++i) {
    if (result.groups[i].first <= result.groups[i - 1].last) return std::nullopt;
  }
  result.group_of_range.reserve(runs.size());
  for (const TaskRange& run : runs) {
    const auto found = std::lower_bound(result.groups.begin(), result.groups.end(), run, before);
    result.group_of_range.push_back(static_cast<uint32_t>(found - result.groups.begin()));
  }
  return result;
}

}  // namespace sluice::megakernel
