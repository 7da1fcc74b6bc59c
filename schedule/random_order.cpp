// Random topological orders: whatever order the tasks have, the answers must be the same.
#include <algorithm>
#include <random>
#include <vector>

#include "schedule/order.hpp"
#include "schedule/task_edges.hpp"

namespace sluice::schedule {

void order_randomly(Plan& plan, uint32_t seed) {
  std::vector<Task> all;  // by flag
  for (uint32_t launch = 0; launch < plan.launches.size(); ++launch) {
    const LaunchTasks& tasks = plan.launches[launch];
    for (uint32_t task = 0; task < task_count(tasks); ++task)
      all.push_back(task_of(plan, launch, task));
  }
  std::vector<std::vector<uint32_t>> slaves(all.size());
  std::vector<uint32_t> masters_left(all.size(), 0);
  for (uint32_t flag = 0; flag < all.size(); ++flag) {
    const LaunchTasks& launch = plan.launches[all[flag].launch];
    for (const Dependence& dependence : plan.dependences_of(launch)) {
      const uint32_t first_flag = plan.launches[dependence.master].first_flag;
      for (const TaskRange& masters : dependence.task_edges->masters(flag - launch.first_flag)) {
        for (uint32_t master = masters.first; master <= masters.last; ++master)
          slaves[first_flag + master].push_back(flag);
        masters_left[flag] += masters.last - masters.first + 1;
      }
    }
  }
  std::mt19937 random(seed);
  std::vector<uint32_t> ready;
  for (uint32_t flag = 0; flag < all.size(); ++flag) {
    if (masters_left[flag] == 0) ready.push_back(flag);
  }
  plan.tasks.clear();
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const uint32_t flag = ready.back();
    ready.pop_back();
    plan.tasks.push_back(all[flag]);
    for (const uint32_t slave : slaves[flag]) {
      if (--masters_left[slave] == 0) ready.push_back(slave);
    }
  }
}

}  // namespace sluice::schedule
