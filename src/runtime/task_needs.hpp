// What tasks of a launch need of an earlier launch, as one number each: how much of it must have
// been begun. Orders are made from these numbers, whatever the form of the edges behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dro/edge_table.hpp"

namespace sluice::runtime {

// TaskNeeds is an edge table as seen by two launches that are swept in the order of their blocks.
struct TaskNeeds {
  // prefix[i]: the masters of slave task i are among the first prefix[i] tasks of the master.
  std::vector<uint32_t> prefix;
  // lag: by which part of the master's sweep the slave's must stay behind it, between 0 and 1. For
  // a stencil it is a few rows of the grid, for a reduction everything.
  double lag = 0;
};

// find_task_needs() reads the table with tasks of so many blocks on either side.
TaskNeeds find_task_needs(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                          uint32_t slave_blocks_per_task);

// TaskNeedsCache remembers the needs of each table and task size. Tables must outlive it. Not
// thread-safe.
class TaskNeedsCache {
 public:
  // The reference is good until clear() or the next call of trim().
  const TaskNeeds& find(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                        uint32_t slave_blocks_per_task);

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
  std::unordered_map<Key, TaskNeeds, KeyHash> needs_;
  size_t prefixes_ = 0;
};

}  // namespace sluice::runtime
