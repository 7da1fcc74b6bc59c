// Grids of many planes are cut into strips, and every block of them runs once, after its masters.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "megakernel/host/host_executor.hpp"
#include "megakernel/random_windows.hpp"
#include "schedule/planner.hpp"
#include "schedule/strips/find_strips.hpp"
#include "schedule/task_cut.hpp"
#include "schedule/validate.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::all_table;
using megakernel::testing::BlockChecks;
using megakernel::testing::offset_table;
using megakernel::testing::pick;
using megakernel::testing::Random;
using megakernel::testing::WindowBuilder;

// Steps are launches and what a planner is told of them.
class Steps {
 public:
  BlockChecks checks;
  WindowBuilder builder;

  uint32_t add(const Dim3& grid, std::vector<TouchedBuffer> touched) {
    const auto slot = static_cast<uint32_t>(grids_.size());
    builder.add_launch(grid, 1, [this, slot](uint32_t block, void*) { checks.run(slot, block); });
    grids_.push_back(grid);
    touched_.push_back(std::move(touched));
    return slot;
  }

  // A loop that reads one buffer of `bytes` and writes the other.
  void add_loop(const Dim3& grid, uint32_t steps, uint64_t bytes) {
    for (uint32_t step = 0; step < steps; ++step) {
      const uint32_t slot = add(grid, {{1, bytes}, {2, bytes}});
      if (step > 0) builder.depend(slot - 1, star_table(grid));
    }
  }

  static dro::EdgeTable star_table(const Dim3& grid) {
    return offset_table(
        grid, {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  }

  // plan() makes the window's plan, which stays valid with the planner.
  const Plan& plan(const Machine& machine) {
    std::vector<Launch> launches;
    for (size_t i = 0; i < grids_.size(); ++i) {
      launches.push_back({.grid = grids_[i],
                          .block = {8, 1, 1},
                          .dependences = builder.plan.dependences_of(builder.plan.launches[i]),
                          .touched = touched_[i]});
    }
    planner_ = std::make_unique<Planner>(machine);
    const Plan made = planner_->plan(launches);
    builder.plan = made;
    checks.expect(builder.plan);
    const Status valid = validate(builder.plan);
    EXPECT_TRUE(valid) << valid.error().line();
    return builder.plan;
  }

 private:
  std::vector<Dim3> grids_;
  std::vector<std::vector<TouchedBuffer>> touched_;
  std::unique_ptr<Planner> planner_;
};

Machine host(uint32_t workers, uint64_t cache_bytes) {
  return {.cache_bytes = cache_bytes,
          .workers = workers,
          .task_threads = 16,
          .own_cache_bytes = cache_bytes,
          .on_host = true};
}

bool has_strips(const Plan& plan) {
  return std::ranges::any_of(
      plan.launches, [](const LaunchTasks& launch) { return launch.cut.plane_blocks != 0; });
}

TEST(TaskCut, FindsEachBlockInItsTask) {
  for (const TaskCut& cut :
       {TaskCut(5), TaskCut(4, 12, 0), TaskCut(4, 12, 3), TaskCut(8, 12, 7), TaskCut(16, 12, 2)}) {
    for (uint32_t task = 0; task < cut.tasks(36); ++task) {
      const uint32_t end = std::min(cut.first_block(task + 1), 36U);
      ASSERT_LT(cut.first_block(task), end);
      for (uint32_t block = cut.first_block(task); block < end; ++block)
        ASSERT_EQ(cut.task_of(block), task);
    }
    EXPECT_GE(cut.first_block(cut.tasks(36)), 36U);
  }
}

// 64 planes of 128 rows, 256 KiB each: in a part of 384 KiB for each worker a tile
// of whole planes has hardly a second launch.
TEST(Strips, AreShiftedByARowFromLaunchToLaunch) {
  Steps steps;
  steps.add_loop({2, 128, 64}, 12, 8U << 20U);
  const Plan& plan = steps.plan(host(2, 768U << 10U));
  ASSERT_TRUE(has_strips(plan));
  const TaskCut& first = plan.launches[0].cut;
  EXPECT_EQ(first.plane_blocks, 256U);
  EXPECT_EQ(first.shift, 0U);
  EXPECT_EQ(plan.launches[1].cut, TaskCut(first.blocks_per_task, 256, 2));
  EXPECT_EQ(plan.queue_ends.size(), 2U);
}

TEST(Strips, AreLeftOutWhereWholePlanesFitTheCache) {
  Steps steps;
  steps.add_loop({2, 128, 64}, 12, 8U << 20U);
  const Plan& plan = steps.plan(host(2, 12U << 20U));
  EXPECT_FALSE(has_strips(plan));
  EXPECT_EQ(plan.tiles.size(), 1U);
}

// Each strip would wait for the one before it.
TEST(Strips, AreLeftOutWherePlanesAreFew) {
  Steps steps;
  steps.add_loop({2, 256, 3}, 12, 8U << 20U);
  EXPECT_FALSE(has_strips(steps.plan(host(2, 256U << 10U))));
}

TEST(Strips, EndWithALaunchThatWaitsForAllOfAnother) {
  Steps steps;
  const Dim3 grid{2, 128, 64};
  steps.add_loop(grid, 8, 8U << 20U);
  const uint32_t slot = steps.add(grid, {{1, 8U << 20U}, {2, 8U << 20U}});
  steps.builder.depend(slot - 1, all_table(grid, grid));
  for (uint32_t step = 0; step < 8; ++step) {
    steps.builder.depend(steps.add(grid, {{1, 8U << 20U}, {2, 8U << 20U}}) - 1,
                         Steps::star_table(grid));
  }
  const Plan& plan = steps.plan(host(2, 768U << 10U));
  ASSERT_TRUE(has_strips(plan));
  EXPECT_EQ(plan.launches[slot].cut.shift, 0U);
}

// add_random() adds launches over one grid, whose edges are mostly some offsets, and now and then a
// small one or one that waits for all of another.
void add_random(Random& random, uint32_t workers, Steps& steps) {
  const Dim3 grid{pick(random, 1, 2), pick(random, 12, 40), 2 * workers + pick(random, 0, 8)};
  std::vector<Dim3> grids;
  const uint32_t launches = pick(random, 2, 12);
  for (uint32_t slot = 0; slot < launches; ++slot) {
    const bool is_small = pick(random, 0, 15) == 0;
    const Dim3 own = is_small ? Dim3{1, 1, 1} : grid;
    const uint64_t bytes = is_small ? 4 : grid.count() * 64;
    steps.add(own, {{slot % 2, bytes}, {(slot + 1) % 2, bytes}});
    for (uint32_t back = 1; back <= std::min(slot, 3U); ++back) {
      if (back > 1 && pick(random, 0, 2) != 0) continue;
      const Dim3& of_master = grids[slot - back];
      if (!(of_master == own) || pick(random, 0, 11) == 0) {
        steps.builder.depend(slot - back, all_table(of_master, own));
        continue;
      }
      std::vector<dro::BlockOffset> offsets;
      for (uint32_t i = pick(random, 1, 6); i-- > 0;) {
        const auto offset = [&](int32_t most) {
          return static_cast<int32_t>(pick(random, 0, 2 * static_cast<uint32_t>(most))) - most;
        };
        const int32_t rows = pick(random, 0, 7) == 0 ? 2 : 1;
        offsets.push_back({offset(1), offset(rows), offset(1)});
      }
      std::sort(offsets.begin(), offsets.end());
      offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
      steps.builder.depend(slot - back, offset_table(own, std::move(offsets)));
    }
    grids.push_back(own);
  }
}

// SLUICE_STRIP_WINDOWS: how many windows are run; of sixteen workers, whose grids are larger, a
// fifth.
uint32_t windows() {
  const char* count = std::getenv("SLUICE_STRIP_WINDOWS");
  return count == nullptr ? 150 : static_cast<uint32_t>(std::atoi(count));
}

void run_random(uint32_t workers, uint32_t seed, uint32_t windows) {
  Random random(seed);
  megakernel::HostExecutor executor(workers);
  uint32_t with_strips = 0;
  for (uint32_t i = 0; i < windows; ++i) {
    Steps steps;
    add_random(random, workers, steps);
    const Plan& plan = steps.plan(host(workers, workers * pick(random, 1'000, 10'000)));
    with_strips += has_strips(plan) ? 1 : 0;
    executor.run(steps.builder.window);
    ASSERT_TRUE(steps.checks.are_met()) << "window " << i << " of seed " << seed;
  }
  EXPECT_GE(with_strips * 20, windows) << with_strips;
}

TEST(RandomStrips, OneWorker) {
  run_random(1, 1, windows());
}
TEST(RandomStrips, TwoWorkers) {
  run_random(2, 2, windows());
}
TEST(RandomStrips, ThreeWorkers) {
  run_random(3, 3, windows());
}
TEST(RandomStrips, SixteenWorkers) {
  run_random(16, 4, windows() / 5);
}

}  // namespace
}  // namespace sluice::schedule
