// The order of tasks as runs: what a list of millions says is mostly said by a few numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/plan.hpp"

namespace sluice::schedule {

// number_of() is the place of a task in its launch.
inline uint32_t number_of(const Plan& plan, const Task& task) {
  return plan.launches[task.launch].cut.task_of(task.first_block);
}

// task_of() is task `number` of a launch of the plan.
inline Task task_of(const Plan& plan, uint32_t launch, uint32_t number) {
  const LaunchTasks& tasks = plan.launches[launch];
  const uint32_t first = tasks.cut.first_block(number);
  const uint32_t end = std::min(tasks.cut.first_block(number + 1), tasks.block_count);
  return {launch, first, end - first};
}

// task_of() is the task of a run's ticket.
inline Task task_of(const Plan& plan, const TaskRun& run, uint32_t ticket) {
  const uint32_t from_first = ticket - run.first_ticket;
  if (run.launches == 0) return plan.tasks[run.first_task + from_first];
  const uint32_t round = from_first / run.launches, place = from_first % run.launches;
  return task_of(plan, run.first_launch + place, run.first_task + round - place * run.lag);
}

// for_each_task() calls visit(task) for each task of the plan, in the order of tickets.
template <class Visit>
void for_each_task(const Plan& plan, Visit&& visit) {
  if (plan.runs.empty()) {
    for (const Task& task : plan.tasks)
      visit(task);
  }
  for (const TaskRun& run : plan.runs) {
    for (uint32_t i = 0; i < run.count; ++i)
      visit(task_of(plan, run, run.first_ticket + i));
  }
}

// RunWriter finds the runs of a plan that has launches and no tasks yet. What none of eight tickets
// has is listed.
class RunWriter {
 public:
  explicit RunWriter(Plan& plan) : plan_(plan) {}

  // add() is the task of the next ticket. After the last one comes finish().
  void add(uint32_t launch, uint32_t number);
  void finish();
  // repeat() adds what the last `launches` tasks, of launches that follow each other, are followed
  // by where each of these goes on, so many times; it is how many times it did.
  uint32_t repeat(size_t launches, uint32_t rounds);

 private:
  struct Named {
    uint32_t launch;
    uint32_t number;
  };

  void end_round();
  bool goes_on(uint32_t lag);
  void list(const Named& task);
  void list_short_run();

  Plan& plan_;
  std::vector<Named> round_;  // launches that follow each other, one task each
  uint32_t tickets_ = 0;      // of the rounds before
};

// runs_of() are those of a plan whose tasks are all listed, of which it leaves the listed ones in
// `tasks`.
void find_runs(Plan& plan);

}  // namespace sluice::schedule
