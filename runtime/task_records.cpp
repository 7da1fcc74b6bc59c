#include "runtime/task_records.hpp"

#include <algorithm>

#include "schedule/task_runs.hpp"

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
  const schedule::Plan& plan = window.tables.plan;
  std::vector<dro::TaskRecord> records(plan.launches.size());
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].launch = window.held.launches()[i].number;
    records[i].tasks.resize(task_count(plan.launches[i]));
  }
  const auto task_of = [&](uint32_t ticket) { return number_of(plan, plan.tasks[ticket]); };
  for (uint32_t worker = 0; worker < times.workers.size(); ++worker) {
    for (const megakernel::TaskTimes::Run& run : times.workers[worker].runs) {
      const schedule::Task& task = plan.tasks[run.ticket];
      records[task.launch].tasks[task_of(run.ticket)] = {
          task.first_block, worker, run.taken - start, run.begun - start, run.ended - start};
    }
  }
  for (const auto& worker : times.workers) {
    for (const megakernel::TaskTimes::Delay& delay : worker.delays) {
      const dro::TaskRecord& master = records[delay.master_launch];
      const uint32_t master_task = delay.master_task == megakernel::TaskTimes::whole_launch
                                       ? last_to_end(master)
                                       : delay.master_task;
      records[plan.tasks[delay.ticket].launch].delays.push_back(
          {task_of(delay.ticket), master.launch, master_task});
    }
  }
  return records;
}

}  // namespace sluice::runtime
