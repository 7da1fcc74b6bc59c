#include "schedule/task_edges.hpp"

#include <algorithm>
#include <ranges>
#include <variant>

#include "dro/edges/edge_table.hpp"

namespace sluice::schedule {
namespace {

// Bytes: a bound for programs whose edges never repeat, far above what one needs that does.
constexpr size_t most_bytes = size_t{64} << 20U;

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

bool is_whole_launch(const dro::EdgeTable& table) {
  const auto* all = std::get_if<dro::AllEdges>(&table.form);
  return all != nullptr && all->boxes.master == dro::BlockBox::of_grid(table.master_grid);
}

TaskEdges::TaskEdges(const dro::EdgeTable& table, const TaskCut& of_master, const TaskCut& of_slave)
    : waits_for_launch_(is_whole_launch(table)) {
  const auto blocks = static_cast<uint32_t>(table.slave_grid.count());
  const uint32_t tasks = of_slave.tasks(blocks);
  rows_.reserve(size_t{tasks} + 1);
  rows_.push_back(0);
  for (uint32_t task = 0; task < tasks; ++task) {
    const uint32_t first_block = of_slave.first_block(task);
    const uint32_t count = std::min(of_slave.first_block(task + 1), blocks) - first_block;
    dro::for_each_master_range(table, first_block, count, [&](uint32_t first, uint32_t last) {
      const TaskRange range{of_master.task_of(first), of_master.task_of(last)};
      if (ranges_.size() > rows_.back() && ranges_.back() == range) return;
      ranges_.push_back(range);
    });
    join(ranges_, rows_.back());
    rows_.push_back(ranges_.size());
  }
  reach_.master_tasks = of_master.tasks(static_cast<uint32_t>(table.master_grid.count()));
  find_reach();
}

void TaskEdges::find_reach() {
  const uint32_t tasks = slave_tasks();
  const double all = reach_.master_tasks;
  // A sweep of one task is where it ends.
  const auto place = [&](uint32_t position) { return tasks == 1 ? 1.0 : 1.0 * position / tasks; };
  reach_.prefix.resize(tasks);
  reach_.suffix.resize(tasks);
  uint32_t prefix = 0;
  for (uint32_t task = 0; task < tasks; ++task) {
    if (!masters(task).empty()) prefix = std::max(prefix, masters(task).back().last + 1);
    reach_.prefix[task] = prefix;
    if (prefix > 0) reach_.lag = std::max(reach_.lag, prefix / all - place(task));
  }
  reach_.steady.resize(tasks);
  for (uint32_t task = tasks; task-- > 0;) {
    const auto ahead = [&](uint32_t of) { return int64_t{reach_.prefix[of]} - of; };
    uint32_t next = task + 1;
    while (next < tasks && ahead(next) <= ahead(task))
      next = reach_.steady[next];
    reach_.steady[task] = next;
  }
  uint32_t suffix = reach_.master_tasks;
  for (uint32_t task = tasks; task-- > 0;) {
    if (!masters(task).empty()) suffix = std::min(suffix, masters(task).front().first);
    reach_.suffix[task] = suffix;
    if (suffix < reach_.master_tasks)
      reach_.backward_lag =
          std::max(reach_.backward_lag, 1 - place(tasks - 1 - task) - suffix / all);
  }
}

size_t TaskEdges::bytes() const {
  return sizeof(TaskEdges) + slave_tasks() * (3 * sizeof(uint32_t) + sizeof(size_t)) +
         ranges_.size() * sizeof(TaskRange);
}

uint32_t SweptEdges::first_beyond(uint32_t bound) const {
  const auto positions = std::views::iota(0U, tasks());
  const auto found = std::ranges::partition_point(
      positions, [&](uint32_t position) { return from(position) < bound; });
  return static_cast<uint32_t>(found - positions.begin());
}

const TaskEdges& TaskEdgesCache::find(const dro::EdgeTable& table, const TaskCut& of_master,
                                      const TaskCut& of_slave) {
  const auto [place, is_new] =
      known_->try_emplace({&table, of_master, of_slave}, table, of_master, of_slave);
  if (is_new) bytes_ += place->second.bytes();
  return place->second;
}

void TaskEdgesCache::trim() {
  if (bytes_ <= most_bytes) return;
  known_ = std::make_shared<Known>();
  bytes_ = 0;
}

}  // namespace sluice::schedule
