// Random edge tables and random topological orders, for tests of executors, and whether blocks run
// once and after all their masters.
#pragma once

#include <atomic>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "megakernel/host/starvation.hpp"
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

// BlockChecks is what the blocks of one window record and check.
struct BlockChecks {
  struct Launch {
    uint32_t blocks = 0;
    std::unique_ptr<std::atomic<uint32_t>[]> runs;
    std::vector<std::pair<uint32_t, const dro::EdgeTable*>> masters;
  };
  std::vector<Launch> launches;
  std::atomic<uint32_t> too_early{0};
  std::atomic<uint32_t> begun{0};
  Starvation* starvation = nullptr;  // not null: told to leave one worker in the fourth block

  void run(uint32_t slot, uint32_t block) {
    for (const auto& [master, table] : launches[slot].masters) {
      dro::for_each_master_range(*table, block, 1, [&](uint32_t first, uint32_t last) {
        for (uint32_t b = first; b <= last; ++b) {
          if (launches[master].runs[b].load() != 1) ++too_early;
        }
      });
    }
    ++launches[slot].runs[block];
  }

  // expect() takes the launches and dependences of a plan.
  void expect(const schedule::Plan& plan) {
    launches.resize(plan.launches.size());
    for (size_t slot = 0; slot < launches.size(); ++slot) {
      const schedule::LaunchTasks& launch = plan.launches[slot];
      launches[slot].blocks = launch.block_count;
      launches[slot].runs = std::make_unique<std::atomic<uint32_t>[]>(launch.block_count);
      for (const schedule::Dependence& dependence : plan.dependences_of(launch))
        launches[slot].masters.emplace_back(dependence.master, dependence.edges);
    }
  }

  // are_met() holds once each block has run once, and after its masters.
  bool are_met() const {
    for (const Launch& launch : launches) {
      for (uint32_t block = 0; block < launch.blocks; ++block) {
        if (launch.runs[block].load() != 1) return false;
      }
    }
    return too_early.load() == 0;
  }
};

}  // namespace sluice::megakernel::testing
