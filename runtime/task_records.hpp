// From the times of a window's tasks to the journal's records of its launches.
#pragma once

#include <cstdint>
#include <vector>

#include "dro/records/tasks.hpp"
#include "megakernel/host/task_times.hpp"
#include "runtime/stream/planned_window.hpp"

namespace sluice::runtime {

// task_records() is one record for each launch of the window. `start` is the steady clock's
// nanoseconds that count as zero. A task that waited for a whole launch waited for the task of it
// that ended last.
std::vector<dro::TaskRecord> task_records(const PlannedWindow& window,
                                          const megakernel::TaskTimes& times, int64_t start);

}  // namespace sluice::runtime
