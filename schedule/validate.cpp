#include "schedule/validate.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "dro/edges/edge_table.hpp"
#include "schedule/task_runs.hpp"

namespace sluice::schedule {
namespace {

constexpr uint32_t no_ticket = UINT32_MAX;

Status check_launch(const Plan& plan, size_t index, std::vector<bool>& flag_used) {
  const LaunchTasks& launch = plan.launches[index];
  const std::string where = fmt::format("launch {}", index);
  if (launch.block_count == 0 || launch.cut.blocks_per_task == 0) {
    return invalid_input("it has no blocks, or tasks of no blocks", where);
  }
  for (uint64_t i = 0; i < task_count(launch); ++i) {
    const uint64_t flag = launch.first_flag + i;
    if (flag >= plan.flag_count) return invalid_input("a flag lies past flag_count", where);
    if (flag_used[flag]) return invalid_input("it shares a flag with another launch", where);
    flag_used[flag] = true;
  }
  if (uint64_t{launch.first_dependence} + launch.dependence_count > plan.dependences.size()) {
    return invalid_input("its dependences lie outside the plan's", where);
  }
  for (uint32_t i = 0; i < launch.dependence_count; ++i) {
    const Dependence& dependence = plan.dependences[launch.first_dependence + i];
    if (dependence.master >= index || dependence.edges == nullptr) {
      return invalid_input(fmt::format("dependence {} names no earlier launch", i), where);
    }
    if (dependence.edges->slave_grid.count() != launch.block_count ||
        dependence.edges->master_grid.count() != plan.launches[dependence.master].block_count) {
      return invalid_input(fmt::format("dependence {} is of other grids", i), where);
    }
  }
  return {};
}

Status check_task(const Plan& plan, const Task& task, uint32_t ticket,
                  std::vector<uint32_t>& ticket_of_flag) {
  const std::string where = fmt::format("task {}", ticket);
  if (task.launch >= plan.launches.size()) return invalid_input("it names no launch", where);
  const LaunchTasks& launch = plan.launches[task.launch];
  const uint32_t number = number_of(plan, task);
  if (task.first_block >= launch.block_count ||
      task.first_block != launch.cut.first_block(number)) {
    return invalid_input("its first block is no task's first block", where);
  }
  if (task.block_count != task_of(plan, task.launch, number).block_count) {
    return invalid_input("its number of blocks is not that of its launch", where);
  }
  const uint32_t flag = launch.first_flag + number;
  if (ticket_of_flag[flag] != no_ticket) return invalid_input("its blocks have run", where);

  bool in_order = true;
  for (uint32_t i = 0; i < launch.dependence_count; ++i) {
    const Dependence& dependence = plan.dependences[launch.first_dependence + i];
    const LaunchTasks& master = plan.launches[dependence.master];
    dro::for_each_master_range(
        *dependence.edges, task.first_block, task.block_count, [&](uint32_t first, uint32_t last) {
          for (uint32_t t = master.cut.task_of(first); t <= master.cut.task_of(last); ++t) {
            in_order = in_order && t < task_count(master) &&
                       ticket_of_flag[master.first_flag + t] != no_ticket;
          }
        });
  }
  if (!in_order) return invalid_input("it waits for a task that does not stand before it", where);
  ticket_of_flag[flag] = ticket;
  return {};
}

Status check_runs(const Plan& plan) {
  uint32_t ticket = 0, listed = 0;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const TaskRun& run = plan.runs[i];
    const std::string where = fmt::format("run {}", i);
    if (run.first_ticket != ticket || run.count == 0)
      return invalid_input("it does not begin where the one before ends", where);
    if (uint64_t{run.first_launch} + run.launches > plan.launches.size())
      return invalid_input("it names no launch", where);
    if (run.launches == 0 && (run.first_task != listed || run.count > plan.tasks.size() - listed))
      return invalid_input("its tasks are not listed", where);
    ticket += run.count;
    listed += run.launches == 0 ? run.count : 0;
  }
  if (!plan.runs.empty() && listed != plan.tasks.size())
    return invalid_input("more tasks are listed than belong to runs", "runs");
  return {};
}

Status check_queues(const Plan& plan) {
  if (plan.queue_ends.empty()) return {};
  if (plan.queue_tickets.size() != plan.tasks.size() ||
      plan.queue_ends.back() != plan.tasks.size()) {
    return invalid_input("they do not hold as many tasks as the plan", "worker queues");
  }
  std::vector<bool> seen(plan.tasks.size(), false);
  uint32_t place = 0;
  for (size_t queue = 0; queue < plan.queue_ends.size(); ++queue) {
    for (uint32_t before = 0, first = place; place < plan.queue_ends[queue]; ++place) {
      const uint32_t ticket = plan.queue_tickets[place];
      if (ticket >= seen.size() || seen[ticket] || (place != first && ticket < before)) {
        return invalid_input("a task stands twice or out of order",
                             fmt::format("worker queue {}", queue));
      }
      seen[ticket] = true;
      before = ticket;
    }
  }
  return {};
}

}  // namespace

Status validate(const Plan& plan) {
  std::vector<bool> flag_used(plan.flag_count, false);
  uint64_t tasks = 0;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    if (Status status = check_launch(plan, i, flag_used); !status) return status;
    tasks += task_count(plan.launches[i]);
  }
  if (Status status = check_runs(plan); !status) return status;
  uint64_t planned = plan.tasks.size();
  if (!plan.runs.empty())
    planned = uint64_t{plan.runs.back().first_ticket} + plan.runs.back().count;
  if (tasks != planned) {
    return invalid_input(
        fmt::format("the plan has {} tasks where its launches make {}", planned, tasks));
  }
  std::vector<uint32_t> ticket_of_flag(plan.flag_count, no_ticket);
  uint32_t ticket = 0;
  Status status;
  for_each_task(plan, [&](const Task& task) {
    if (status) status = check_task(plan, task, ticket++, ticket_of_flag);
  });
  return status ? check_queues(plan) : status;
}

}  // namespace sluice::schedule
