// The journal's record of when the tasks of a launch ran, written only where a run was traced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

struct JournalRecord;

// TaskRecord holds the tasks of one launch in the order of their blocks: task i runs the blocks
// from i * blocks_per_task. Times are nanoseconds since the start of the run.
struct TaskRecord {
  struct Task {
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
  uint32_t blocks_per_task = 1;
  std::vector<Task> tasks;
  std::vector<Delay> delays;
};

// task_text() is one JSON object without its seal; tasks_of() takes it apart.
std::string task_text(const TaskRecord& record);
Result<TaskRecord> tasks_of(const JournalRecord& record);

}  // namespace sluice::dro
