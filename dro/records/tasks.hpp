// The journal's record of when the tasks of a launch ran, written only where a run was traced.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "dro/fields.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// TaskRecord holds the tasks of one launch in the order of their blocks: a task runs the blocks up
// to the next one's first. Times are nanoseconds since the start of the run.
struct TaskRecord {
  static constexpr std::string_view kind = "tasks";
  static constexpr Role role = Role::left_out;
  struct Task {
    uint32_t first_block = 0;
    uint32_t worker = 0;
    int64_t taken = 0;  // the worker began to look at the masters
    int64_t begun = 0;  // all masters were done
    int64_t ended = 0;
  };
  // Delay says that a task had to wait for task `master_task` of launch `master`.
  struct Delay {
    uint32_t task = 0;
    LaunchNumber master = 0;
    uint32_t master_task = 0;
  };
  LaunchNumber launch = 0;
  std::vector<Task> tasks;
  std::vector<Delay> delays;

  // end_block() is the one behind a task's last, of a launch of so many blocks.
  uint64_t end_block(size_t task, uint64_t blocks) const {
    return task + 1 < tasks.size() ? tasks[task + 1].first_block : blocks;
  }
};

template <>
inline constexpr auto elements<TaskRecord::Task> = [](auto& task) {
  return std::tie(task.first_block, task.worker, task.taken, task.begun, task.ended);
};
template <>
inline constexpr auto elements<TaskRecord::Delay> =
    [](auto& delay) { return std::tie(delay.task, delay.master, delay.master_task); };

template <>
inline constexpr auto members<TaskRecord> = [](auto& record, auto& member) {
  member("launch", record.launch);
  member("times", record.tasks);
  member("delays", record.delays);
};

}  // namespace sluice::dro
