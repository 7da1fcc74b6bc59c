// Which tasks of a launch wait for which tasks of an earlier one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "schedule/plan.hpp"

namespace sluice::schedule {

// is_whole_launch() says whether `table` makes each slave block of its box wait for the whole
// master launch, which one counter of finished tasks can stand for.
bool is_whole_launch(const dro::EdgeTable& table);

// TaskEdges is an edge table read once for two cuts into tasks, so that neither a worker nor an
// order need go through blocks again for each task of a window that repeats.
class TaskEdges {
 public:
  // The cuts are those of the master's launch and the slave's. Throws std::bad_alloc.
  TaskEdges(const dro::EdgeTable& table, const TaskCut& of_master, const TaskCut& of_slave);

  // masters() is what a slave task waits for, in rising order and apart from each other.
  std::span<const TaskRange> masters(uint32_t slave_task) const {
    return {ranges_.data() + rows_[slave_task], ranges_.data() + rows_[slave_task + 1]};
  }

  // waits_for_launch() holds where slave tasks that wait at all wait for all of the master launch.
  bool waits_for_launch() const { return waits_for_launch_; }

  uint32_t slave_tasks() const { return static_cast<uint32_t>(rows_.size() - 1); }
  size_t bytes() const;  // that it holds, about

  // Reach is all that the order of two sweeps needs to know, from where to where masters lie.
  struct Reach {
    // prefix[i]: the masters of slave tasks 0 .. i are among the first prefix[i] master tasks.
    std::vector<uint32_t> prefix;
    // suffix[i]: the masters of slave tasks i and up are none of the first suffix[i] master tasks.
    std::vector<uint32_t> suffix;
    // steady[i]: up to this task, after i, the prefix grows by no more than one a task since i.
    std::vector<uint32_t> steady;
    // lag: by which part of the master's sweep the slave's must stay behind it, at most 1.
    // For a stencil it is a few rows of the grid, for a reduction everything; a slave of which only
    // the last tasks wait may be ahead, down to -1, where it begins a whole sweep before. A slave
    // of one task is where that ends. backward_lag: where both sweep from the last block to the
    // first.
    double lag = -1;
    double backward_lag = -1;
    uint32_t master_tasks = 0;
  };
  const Reach& reach() const { return reach_; }

 private:
  void find_reach();

  std::vector<size_t> rows_;  // one more than there are slave tasks
  std::vector<TaskRange> ranges_;
  bool waits_for_launch_ = false;
  Reach reach_;
};

// SweptEdges are a Reach by position in the sweeps: forward, position i is task i; backward, it is
// the i-th task from the end.
class SweptEdges {
 public:
  SweptEdges(const TaskEdges& edges, bool is_backward)
      : reach_(&edges.reach()), is_backward_(is_backward) {}

  // before() is how many positions of the master hold all masters of positions 0 .. position.
  uint32_t before(uint32_t position) const {
    return is_backward_ ? reach_->master_tasks - reach_->suffix[mirrored(position)]
                        : reach_->prefix[position];
  }
  // steady() is up to which position before() grows by no more than one each, sweeping forward.
  uint32_t steady(uint32_t position) const { return reach_->steady[position]; }
  // from() is how many positions of the master hold no master of `position` and those behind it.
  uint32_t from(uint32_t position) const {
    return is_backward_ ? reach_->master_tasks - reach_->prefix[mirrored(position)]
                        : reach_->suffix[position];
  }
  // first_beyond() is from where on nothing is needed of the master's positions before `bound`.
  uint32_t first_beyond(uint32_t bound) const;
  double lag() const { return is_backward_ ? reach_->backward_lag : reach_->lag; }
  uint32_t tasks() const { return static_cast<uint32_t>(reach_->prefix.size()); }

 private:
  uint32_t mirrored(uint32_t position) const { return tasks() - 1 - position; }

  const TaskEdges::Reach* reach_;
  bool is_backward_;
};

// TaskEdgesCache remembers the edges of each table and pair of cuts. Tables must outlive it. Not
// thread-safe.
class TaskEdgesCache {
 public:
  // The reference is good until the next call of trim(), or as long as what holder() gave since the
  // last one. Throws std::bad_alloc.
  const TaskEdges& find(const dro::EdgeTable& table, const TaskCut& of_master,
                        const TaskCut& of_slave);

  // holder() keeps what is remembered by now, and is found until the next call of trim(), while it
  // lives.
  std::shared_ptr<const void> holder() const { return known_; }

  // trim() forgets everything where more than 64 MiB were remembered.
  void trim();

 private:
  using Key = std::tuple<const dro::EdgeTable*, TaskCut, TaskCut>;
  using Known = std::map<Key, TaskEdges>;
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
  size_t bytes_ = 0;
};

}  // namespace sluice::schedule
