#include "runtime/task_needs.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

constexpr size_t most_tables = 4096;
constexpr size_t most_prefixes = (size_t{64} << 20U) / sizeof(uint32_t);

uint32_t divide_up(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

}  // namespace

TaskNeeds find_task_needs(const dro::EdgeTable& table, uint32_t master_blocks_per_task,
                          uint32_t slave_blocks_per_task) {
  const auto slave_blocks = static_cast<uint32_t>(table.slave_grid.count());
  const uint32_t tasks = divide_up(slave_blocks, slave_blocks_per_task);
  const double master_tasks = divide_up(table.master_grid.count(), master_blocks_per_task);
  TaskNeeds needs;
  needs.prefix.reserve(tasks);
  for (uint32_t task = 0; task < tasks; ++task) {
    const uint32_t first_block = task * slave_blocks_per_task;
    uint32_t prefix = 0;
    dro::for_each_master_range(table, first_block,
                               std::min(slave_blocks_per_task, slave_blocks - first_block),
                               [&](uint32_t, uint32_t last) {
                                 prefix = std::max(prefix, last / master_blocks_per_task + 1);
                               });
    needs.prefix.push_back(prefix);
    needs.lag = std::max(needs.lag, prefix / master_tasks - static_cast<double>(task) / tasks);
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
  const auto known = needs_.find(key);
  if (known != needs_.end()) return known->second;
  TaskNeeds found = find_task_needs(table, master_blocks_per_task, slave_blocks_per_task);
  prefixes_ += found.prefix.size();
  return needs_.emplace(key, std::move(found)).first->second;
}

void TaskNeedsCache::trim() {
  if (needs_.size() <= most_tables && prefixes_ <= most_prefixes) return;
  needs_.clear();
  prefixes_ = 0;
}

}  // namespace sluice::runtime
