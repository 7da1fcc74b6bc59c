#include "megakernel/host/task_edges.hpp"

#include <algorithm>

#include "base/divide_up.hpp"
#include "megakernel/validate.hpp"

namespace sluice::megakernel {
namespace {

// join() sorts the ranges from `begin` on and joins those that touch.
void join(std::vector<TaskRange>& ranges, size_t begin) {
  const auto first = ranges.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, ranges.end(),
            [](const TaskRange& a, const TaskRange& b) { return a.first < b.first; });
  auto joined = first;
  for (auto next = first; next != ranges.end(); ++next) {
    if (next != first && next->first <= uint64_t{joined->last} + 1) {
      joined->last = std::max(joined->last, next->last);
    } else {
      if (next != first) ++joined;
      *joined = *next;
    }
  }
  if (joined != ranges.end()) ranges.erase(joined + 1, ranges.end());
}

}  // namespace

TaskEdges::TaskEdges(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                     uint32_t slave_blocks_per_task)
    : waits_for_launch_(is_whole_launch(table)) {
  const auto blocks = static_cast<uint32_t>(table.slave_grid.count());
  rows_.reserve(divide_up(blocks, slave_blocks_per_task) + 1);
  rows_.push_back(0);
  for (uint32_t first_block = 0; first_block < blocks;) {
    const uint32_t count = std::min(slave_blocks_per_task, blocks - first_block);
    dro::for_each_master_range(table, first_block, count, [&](uint32_t first, uint32_t last) {
      const TaskRange range{first / master_blocks_per_task, last / master_blocks_per_task};
      if (ranges_.size() > rows_.back() && ranges_.back() == range) return;
      ranges_.push_back(range);
    });
    join(ranges_, rows_.back());
    rows_.push_back(ranges_.size());
    first_block += count;
  }
}

}  // namespace sluice::megakernel
