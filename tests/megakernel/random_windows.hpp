// Random edge tables and random topological orders, for tests of executors.
#pragma once

#include <random>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "megakernel/window_builder.hpp"

namespace sluice::megakernel::testing {

using Random = std::mt19937;

inline uint32_t pick(Random& random, uint32_t first, uint32_t last) {
  return std::uniform_int_distribution<uint32_t>(first, last)(random);
}

inline dro::BlockBox random_box(Random& random, const Dim3& grid) {
  dro::BlockBox box;
  box.last_x = pick(random, 0, grid.x - 1);
  box.first_x = pick(random, 0, box.last_x);
  box.last_y = pick(random, 0, grid.y - 1);
  box.first_y = pick(random, 0, box.last_y);
  box.last_z = pick(random, 0, grid.z - 1);
  box.first_z = pick(random, 0, box.last_z);
  return box;
}

inline dro::EdgeTable random_ranges(Random& random, const Dim3& master, const Dim3& slave) {
  const auto masters = static_cast<uint32_t>(master.count());
  std::vector<std::vector<dro::BlockRange>> of_block(slave.count());
  for (auto& ranges : of_block) {
    for (uint32_t next = pick(random, 0, masters); next < masters;) {
      const uint32_t last = std::min(masters - 1, next + pick(random, 0, 3));
      ranges.push_back({next, last});
      next = last + 2 + pick(random, 0, masters);
    }
  }
  return ranges_table(master, slave, of_block);
}

inline dro::EdgeTable random_table(Random& random, const Dim3& master, const Dim3& slave) {
  switch (pick(random, 0, 3)) {
    case 0:
      return all_table(master, slave);
    case 1:
      return make_table(master, slave,
                        dro::AllEdges{{random_box(random, master), random_box(random, slave)}});
    case 2: {
      auto edges = std::get<dro::NeighbourEdges>(cross_table(slave).form);
      edges.boxes = {random_box(random, master), random_box(random, slave)};
      return make_table(master, slave, std::move(edges));
    }
    default:
      return random_ranges(random, master, slave);
  }
}

// shuffle_tasks() puts the tasks into a random topological order: again and again any task whose
// masters are in.
inline void shuffle_tasks(Random& random, schedule::Plan& plan) {
  std::vector<schedule::Task> left = plan.tasks;
  std::vector<bool> placed(plan.flag_count, false);
  plan.tasks.clear();
  while (!left.empty()) {
    std::swap(left[pick(random, 0, static_cast<uint32_t>(left.size()) - 1)], left.back());
    const schedule::Task task = left.back();
    const schedule::LaunchTasks& launch = plan.launches[task.launch];
    bool ready = true;
    for (const schedule::Dependence& d : plan.dependences_of(launch)) {
      const schedule::LaunchTasks& master = plan.launches[d.master];
      dro::for_each_master_range(
          *d.edges, task.first_block, task.block_count, [&](uint32_t first, uint32_t last) {
            for (uint32_t b = first; b <= last; ++b) {
              ready = ready && placed[master.first_flag + master.cut.task_of(b)];
            }
          });
    }
    if (!ready) continue;
    left.pop_back();
    placed[launch.first_flag + launch.cut.task_of(task.first_block)] = true;
    plan.tasks.push_back(task);
  }
}

// spread_over_workers() deals the tasks out at random, some queues perhaps getting none.
inline void spread_over_workers(Random& random, schedule::Plan& plan, uint32_t queues) {
  std::vector<std::vector<uint32_t>> tickets(queues);
  for (uint32_t ticket = 0; ticket < plan.tasks.size(); ++ticket)
    tickets[pick(random, 0, queues - 1)].push_back(ticket);
  for (const auto& queue : tickets) {
    plan.queue_tickets.insert(plan.queue_tickets.end(), queue.begin(), queue.end());
    plan.queue_ends.push_back(static_cast<uint32_t>(plan.queue_tickets.size()));
  }
}

}  // namespace sluice::megakernel::testing
