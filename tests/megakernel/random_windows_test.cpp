// Random task graphs in random topological orders: every block runs once, after all its masters.
#include "megakernel/random_windows.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "megakernel/host/host_executor.hpp"
#include "megakernel/validate.hpp"

namespace sluice::megakernel {
namespace {

using testing::pick;
using testing::Random;
using testing::random_table;
using testing::shuffle_tasks;
using testing::spread_over_lanes;
using testing::WindowBuilder;
using testing::workers;

// BlockChecks is what the blocks of one window record and check.
struct BlockChecks {
  struct Launch {
    std::unique_ptr<std::atomic<uint32_t>[]> runs;
    std::vector<std::pair<uint32_t, const dro::EdgeTable*>> masters;
  };
  std::vector<Launch> launches;
  std::atomic<uint32_t> too_early{0};

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
};

void delay(uint32_t kind) {
  if (kind == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (kind == 1) std::this_thread::yield();
}

void add_launches(Random& random, WindowBuilder& builder, BlockChecks& checks) {
  const uint32_t launches = pick(random, 1, 6);
  std::vector<Dim3> grids;
  for (uint32_t slot = 0; slot < launches; ++slot) {
    const Dim3 grid{pick(random, 1, 5), pick(random, 1, 4), pick(random, 1, 2)};
    const uint32_t delays = pick(random, 2, 40);
    builder.add_launch(grid, pick(random, 1, 7), [&checks, slot, delays](uint32_t block, void*) {
      delay((block * 7 + slot) % delays);
      checks.run(slot, block);
    });
    for (uint32_t master = 0; master < slot; ++master) {
      if (pick(random, 0, 2) == 0)
        builder.depend(master, random_table(random, grids[master], grid));
    }
    grids.push_back(grid);
  }
  checks.launches.resize(launches);
  for (uint32_t slot = 0; slot < launches; ++slot) {
    const LaunchSlot& launch = builder.window.slots[slot];
    checks.launches[slot].runs = std::make_unique<std::atomic<uint32_t>[]>(launch.block_count);
    for (uint32_t i = 0; i < launch.dependence_count; ++i) {
      const SlotDependence& d = builder.window.dependences[launch.first_dependence + i];
      checks.launches[slot].masters.emplace_back(d.master_slot, d.edges);
    }
  }
}

void run_random_windows(const HostExecutor::Config& config, uint32_t windows, uint32_t seed) {
  Random random(seed);
  HostExecutor executor(config);
  for (uint32_t i = 0; i < windows; ++i) {
    WindowBuilder builder;
    BlockChecks checks;
    add_launches(random, builder, checks);
    builder.add_tasks_in_launch_order();
    if (pick(random, 0, 3) != 0) shuffle_tasks(random, builder.window);
    // More lanes than workers too: nobody's own lane is everybody's.
    if (pick(random, 0, 1) != 0)
      spread_over_lanes(random, builder.window, pick(random, 1, config.workers + 2));
    const Status valid = validate(builder.window);
    ASSERT_TRUE(valid) << "window " << i << ": " << valid.error().line();
    executor.run(builder.window);
    ASSERT_EQ(checks.too_early.load(), 0U) << "window " << i;
    for (size_t slot = 0; slot < checks.launches.size(); ++slot) {
      for (uint32_t block = 0; block < builder.window.slots[slot].block_count; ++block) {
        ASSERT_EQ(checks.launches[slot].runs[block].load(), 1U) << "window " << i;
      }
    }
  }
}

// Together 2800 windows; each executor goes on with its flags from one window to the next.
TEST(RandomWindows, OneWorker) {
  run_random_windows(workers(1), 400, 1);
}
TEST(RandomWindows, TwoWorkers) {
  run_random_windows(workers(2), 800, 2);
}
TEST(RandomWindows, FourWorkers) {
  run_random_windows(workers(4), 800, 3);
}
TEST(RandomWindows, FourWorkersOfWhomThreeLeave) {
  run_random_windows(workers(4).set_alone_from_ticket(3), 400, 4);
}

// In the first window, where that is in lanes, the other is called after the first task.
TEST(RandomWindows, TwoWorkersOfWhomOneIsCalledLater) {
  const auto always = [](uint32_t) { return true; };
  const HostExecutor::Config config =
      workers(2).set_others_want_processors(always).set_most_held_back({});
  for (uint32_t seed = 5; seed < 25; ++seed)
    run_random_windows(config, 20, seed);
}

}  // namespace
}  // namespace sluice::megakernel
