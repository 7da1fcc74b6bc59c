// Random task graphs in random topological orders: every block runs once, after all its masters.
#include "megakernel/random_windows.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "megakernel/host/host_executor.hpp"
#include "schedule/validate.hpp"

namespace sluice::megakernel {
namespace {

using testing::BlockChecks;
using testing::pick;
using testing::Random;
using testing::random_table;
using testing::shuffle_tasks;
using testing::spread_over_workers;
using testing::WindowBuilder;

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
      if (checks.starvation != nullptr && checks.begun++ == 3) checks.starvation->starve();
      delay((block * 7 + slot) % delays);
      checks.run(slot, block);
    });
    for (uint32_t master = 0; master < slot; ++master) {
      if (pick(random, 0, 2) == 0)
        builder.depend(master, random_table(random, grids[master], grid));
    }
    grids.push_back(grid);
  }
  checks.expect(builder.plan);
}

void run_random_windows(uint32_t workers, uint32_t windows, uint32_t seed,
                        Starvation* starvation = nullptr) {
  Random random(seed);
  HostExecutor executor(workers, starvation);
  for (uint32_t i = 0; i < windows; ++i) {
    WindowBuilder builder;
    BlockChecks checks;
    checks.starvation = starvation;
    add_launches(random, builder, checks);
    builder.add_tasks_in_launch_order();
    if (pick(random, 0, 3) != 0) shuffle_tasks(random, builder.plan);
    // More queues than workers too: nobody's own queue is everybody's.
    if (pick(random, 0, 1) != 0)
      spread_over_workers(random, builder.plan, pick(random, 1, executor.workers() + 2));
    const Status valid = schedule::validate(builder.plan);
    ASSERT_TRUE(valid) << "window " << i << ": " << valid.error().line();
    executor.run(builder.window);
    ASSERT_TRUE(checks.are_met()) << "window " << i;
  }
}

// Together 3200 windows; each executor goes on with its flags from one window to the next.
TEST(RandomWindows, OneWorker) {
  run_random_windows(1, 400, 1);
}
TEST(RandomWindows, TwoWorkers) {
  run_random_windows(2, 800, 2);
}
TEST(RandomWindows, FourWorkers) {
  run_random_windows(4, 800, 3);
}

// A few tasks later they are called again.
TEST(RandomWindows, FourWorkersOfWhomThreeLeave) {
  Starvation::Time now;
  Starvation starvation([&] { return now += std::chrono::milliseconds(5); }, [] { return false; });
  run_random_windows(4, 800, 4, &starvation);
}

// In the first window, after its first tasks.
TEST(RandomWindows, TwoWorkersOfWhomOneIsCalledLater) {
  for (uint32_t seed = 5; seed < 25; ++seed) {
    Starvation::Time now;
    bool is_contended = true;
    Starvation starvation([&] { return now += std::chrono::milliseconds(1); },
                          [&] { return std::exchange(is_contended, false); });
    run_random_windows(2, 20, seed, &starvation);
  }
}

}  // namespace
}  // namespace sluice::megakernel
