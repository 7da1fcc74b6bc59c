#include "runtime/task_records.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

uint32_t last_to_end(const dro::TaskRecord& record) {
  const auto last =
      std::max_element(record.tasks.begin(), record.tasks.end(),
                       [](const dro::TaskRecord::Task& a, const dro::TaskRecord::Task& b) {
                         return a.ended < b.ended;
                       });
  return static_cast<uint32_t>(last - record.tasks.begin());
}

}  // namespace

std::vector<dro::TaskRecord> task_records(const PlannedWindow& window,
                                          const megakernel::TaskTimes& times, int64_t start) {
  const megakernel::Window& tables = window.tables;
  std::vector<dro::TaskRecord> records(tables.slots.size());
  for (size_t i = 0; i < records.size(); ++i) {
    const megakernel::LaunchSlot& slot = tables.slots[i];
    records[i].launch = window.held.launches()[i].number;
    records[i].blocks_per_task = slot.blocks_per_task;
    records[i].tasks.resize(task_count(slot));
  }
  const auto task_of = [&](uint32_t ticket) {
    const megakernel::Task& task = tables.tasks[ticket];
    return task.first_block / tables.slots[task.slot].blocks_per_task;
  };
  for (uint32_t worker = 0; worker < times.workers.size(); ++worker) {
    for (const megakernel::TaskTimes::Run& run : times.workers[worker].runs) {
      records[tables.tasks[run.ticket].slot].tasks[task_of(run.ticket)] = {
          worker, run.taken - start, run.begun - start, run.ended - start};
    }
  }
  for (const auto& worker : times.workers) {
    for (const megakernel::TaskTimes::Delay& delay : worker.delays) {
      const dro::TaskRecord& master = records[delay.master_slot];
      const uint32_t master_task = delay.master_task == megakernel::TaskTimes::whole_launch
                                       ? last_to_end(master)
                                       : delay.master_task;
      records[tables.tasks[delay.ticket].slot].delays.push_back(
          {task_of(delay.ticket), master.launch, master_task});
    }
  }
  return records;
}

}  // namespace sluice::runtime
