// Groups of tasks that are only ever waited for together: one counter stands for all their flags.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "schedule/plan.hpp"

namespace sluice::megakernel {

// TaskGroups are disjoint runs of tasks of a master, in order.
struct TaskGroups {
  std::vector<schedule::TaskRange> groups;
  std::vector<uint32_t> group_of_range;  // of each of the ranges
  friend bool operator==(const TaskGroups&, const TaskGroups&) = default;
};

// find_task_groups() returns the groups of edges by ranges, or nothing where these are not
// disjoint or equal as runs of tasks, or too short for counters to cost less than flags.
// Time: n log n in the ranges.
std::optional<TaskGroups> find_task_groups(const dro::RangeEdges& edges,
                                           uint32_t master_blocks_per_task);

}  // namespace sluice::megakernel
