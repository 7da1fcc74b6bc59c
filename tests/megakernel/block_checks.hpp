// Whether the blocks of a window run once, and after all their masters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "megakernel/host/starvation.hpp"
#include "schedule/plan.hpp"

namespace sluice::megakernel::testing {

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
