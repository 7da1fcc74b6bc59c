// What tasks of a launch need of an earlier launch: the tasks they wait for, and, for making
// orders, two numbers each: from where to where in it their masters lie.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "megakernel/host/task_edges.hpp"

namespace sluice::runtime {

// TaskNeeds is an edge table as seen by two launches that are swept in the order of their blocks.
struct TaskNeeds {
  megakernel::TaskEdges edges;
  // prefix[i]: the masters of slave tasks 0 .. i are among the first prefix[i] tasks of the master.
  std::vector<uint32_t> prefix;
  // suffix[i]: the masters of slave tasks i and up are none of the first suffix[i] tasks.
  std::vector<uint32_t> suffix;
  // lag: by which part of the master's sweep the slave's must stay behind it, between 0 and 1. For
  // a stencil it is a few rows of the grid, for a reduction everything. backward_lag: where both
  // sweep from the last block to the first.
  double lag = 0;
  double backward_lag = 0;
  uint32_t master_tasks = 0;
};

// SweptNeeds are the same needs by position in the sweeps: forward, position i is task i; backward,
// it is the i-th task from the end.
class SweptNeeds {
 public:
  SweptNeeds(const TaskNeeds& needs, bool is_backward)
      : needs_(&needs), is_backward_(is_backward) {}

  // before() is how many positions of the master hold all masters of positions 0 .. position.
  uint32_t before(uint32_t position) const {
    return is_backward_ ? needs_->master_tasks - needs_->suffix[mirrored(position)]
                        : needs_->prefix[position];
  }
  // from() is how many positions of the master hold no master of `position` and those behind it.
  uint32_t from(uint32_t position) const {
    return is_backward_ ? needs_->master_tasks - needs_->prefix[mirrored(position)]
                        : needs_->suffix[position];
  }
  double lag() const { return is_backward_ ? needs_->backward_lag : needs_->lag; }
  uint32_t tasks() const { return static_cast<uint32_t>(needs_->prefix.size()); }

 private:
  uint32_t mirrored(uint32_t position) const { return tasks() - 1 - position; }

  const TaskNeeds* needs_;
  bool is_backward_;
};

// find_task_needs() reads the table with tasks of so many blocks on either side.
TaskNeeds find_task_needs(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                          uint32_t slave_blocks_per_task);

// TaskNeedsCache remembers the needs of each table and task size. Tables must outlive it. Not
// thread-safe.
class TaskNeedsCache {
 public:
  // The reference is good until the next call of trim(), or as long as what holder() gave since the
  // last one.
  const TaskNeeds& find(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                        uint32_t slave_blocks_per_task);

  // holder() keeps what is remembered by now, and is found until the next call of trim(), while it
  // lives.
  std::shared_ptr<const void> holder() const { return needs_; }

  // trim() forgets everything where more than a few thousand tables or 64 MiB were remembered.
  void trim();

 private:
  struct Key {
    const dro::EdgeTable* table = nullptr;
    uint32_t master_blocks_per_task = 0;
    uint32_t slave_blocks_per_task = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  using Needs = std::unordered_map<Key, TaskNeeds, KeyHash>;
  std::shared_ptr<Needs> needs_ = std::make_shared<Needs>();
  size_t bytes_ = 0;  // of all needs, about
};

}  // namespace sluice::runtime
