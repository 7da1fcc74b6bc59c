// Which tasks of a launch wait for which tasks of an earlier one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "megakernel/layout.hpp"

namespace sluice::megakernel {

// TaskEdges is an edge table read once for two sizes of tasks, so that a worker need not go through
// blocks again at each task of a window that repeats.
class TaskEdges {
 public:
  // Tasks have so many blocks on either side, 1 at least. Throws std::bad_alloc.
  TaskEdges(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
            uint32_t slave_blocks_per_task);

  // masters() is what a slave task waits for, in rising order and apart from each other.
  std::span<const TaskRange> masters(uint32_t slave_task) const {
    return {ranges_.data() + rows_[slave_task], ranges_.data() + rows_[slave_task + 1]};
  }

  // waits_for_launch() holds where slave tasks that wait at all wait for all of the master launch.
  bool waits_for_launch() const { return waits_for_launch_; }

  uint32_t slave_tasks() const { return static_cast<uint32_t>(rows_.size() - 1); }

  // ranges() is how many of them all slave tasks have together.
  size_t ranges() const { return ranges_.size(); }

 private:
  std::vector<size_t> rows_;  // one more than there are slave tasks
  std::vector<TaskRange> ranges_;
  bool waits_for_launch_ = false;
};

}  // namespace sluice::megakernel
