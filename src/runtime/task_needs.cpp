#include "runtime/task_needs.hpp"

#include <algorithm>

#include "base/divide_up.hpp"

namespace sluice::runtime {
namespace {

constexpr size_t most_tables = 4096;
constexpr size_t most_bytes = size_t{64} << 20U;

size_t bytes_of(const TaskNeeds& needs) {
  return needs.edges.slave_tasks() * (2 * sizeof(uint32_t) + sizeof(size_t)) +
         needs.edges.ranges() * sizeof(megakernel::TaskRange);
}

}  // namespace

TaskNeeds find_task_needs(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                          uint32_t slave_blocks_per_task) {
  TaskNeeds needs{.edges = {table, master_blocks_per_task, slave_blocks_per_task}};
  const uint32_t tasks = needs.edges.slave_tasks();
  needs.master_tasks =
      static_cast<uint32_t>(divide_up(table.master_grid.count(), master_blocks_per_task));
  needs.prefix.resize(tasks);
  needs.suffix.resize(tasks);
  for (uint32_t task = 0; task < tasks; ++task) {
    const std::span<const megakernel::TaskRange> masters = needs.edges.masters(task);
    needs.prefix[task] = masters.empty() ? 0 : masters.back().last + 1;
    needs.suffix[task] = masters.empty() ? needs.master_tasks : masters.front().first;
  }
  const double masters = needs.master_tasks;
  for (uint32_t task = 0; task < tasks; ++task) {
    if (task > 0) needs.prefix[task] = std::max(needs.prefix[task], needs.prefix[task - 1]);
    needs.lag =
        std::max(needs.lag, needs.prefix[task] / masters - static_cast<double>(task) / tasks);
  }
  for (uint32_t task = tasks; task-- > 0;) {
    if (task + 1 < tasks) needs.suffix[task] = std::min(needs.suffix[task], needs.suffix[task + 1]);
    needs.backward_lag =
        std::max(needs.backward_lag, (task + 1.0) / tasks - needs.suffix[task] / masters);
  }
  return needs;
}

size_t TaskNeedsCache::KeyHash::operator()(const Key& key) const {
  const uint64_t sizes = uint64_t{key.master_blocks_per_task} << 32U | key.slave_blocks_per_task;
  const uint64_t mixed = (reinterpret_cast<uintptr_t>(key.table) ^ sizes) * 0x9e3779b97f4a7c15U;
  return mixed ^ mixed >> 32U;
}

const TaskNeeds& TaskNeedsCache::find(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                                      uint32_t slave_blocks_per_task) {
  const Key key{&table, master_blocks_per_task, slave_blocks_per_task};
  const auto known = needs_->find(key);
  if (known != needs_->end()) return known->second;
  TaskNeeds found = find_task_needs(table, master_blocks_per_task, slave_blocks_per_task);
  bytes_ += bytes_of(found);
  return needs_->emplace(key, std::move(found)).first->second;
}

void TaskNeedsCache::trim() {
  if (needs_->size() <= most_tables && bytes_ <= most_bytes) return;
  needs_ = std::make_shared<Needs>();
  bytes_ = 0;
}

}  // namespace sluice::runtime
