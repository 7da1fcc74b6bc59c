#include "schedule/small_launches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "schedule/task_runs.hpp"

namespace sluice::schedule {

std::vector<uint32_t> small_first(const Plan& plan) {
  // Each launch belongs to a larger one that it stands behind, or to none; a larger one to itself.
  std::vector<uint32_t> place(plan.launches.size());
  for (uint32_t launch = 0; launch < place.size(); ++launch) {
    const LaunchTasks& tasks = plan.launches[launch];
    if (task_count(tasks) > 1) {
      place[launch] = launch + 1;
      continue;
    }
    for (const Dependence& dependence : plan.dependences_of(tasks))
      place[launch] = std::max(place[launch], place[dependence.master]);
  }
  std::vector<uint32_t> order(place.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t launch) { return place[launch]; });
  return order;
}

void put_in_order(Plan& plan, std::span<const uint32_t> order) {
  std::vector<uint32_t> places(order.size());
  std::vector<LaunchTasks> launches(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    places[order[i]] = i;
    launches[i] = plan.launches[order[i]];
  }
  plan.launches = std::move(launches);
  for (Dependence& dependence : plan.dependences)
    dependence.master = places[dependence.master];
}

void put_back(Plan& plan, std::span<const uint32_t> order) {
  if (std::ranges::is_sorted(order)) return;
  std::vector<Task> tasks;
  tasks.reserve(plan.flag_count);
  for_each_task(plan, [&](const Task& task) {
    tasks.push_back({order[task.launch], task.first_block, task.block_count});
  });
  std::vector<LaunchTasks> launches(order.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    launches[order[i]] = plan.launches[i];
  plan.launches = std::move(launches);
  for (Dependence& dependence : plan.dependences)
    dependence.master = order[dependence.master];
  plan.tasks = std::move(tasks);
  // Runs are of launches that follow each other, and these may be others now.
  if (!plan.runs.empty()) find_runs(plan);
}

}  // namespace sluice::schedule
