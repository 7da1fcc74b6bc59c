// Where all fits the workers' own caches, each has an equal part of every launch.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"
#include "schedule/order.hpp"
#include "schedule/validate.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::WindowBuilder;
using Ends = std::vector<uint32_t>;

void do_nothing(uint32_t, void*) {}

// The ends of the queues of a window of one launch.
Ends queue_ends(const Dim3& grid, uint32_t blocks_per_task, uint32_t workers) {
  WindowBuilder builder;
  builder.add_launch(grid, blocks_per_task, do_nothing);
  order_by_worker(builder.plan, workers);
  return builder.plan.queue_ends;
}

TEST(OrderByWorker, GivesEqualParts) {
  EXPECT_EQ(queue_ends({8, 32, 1}, 64, 2), Ends({2, 4}));
  EXPECT_EQ(queue_ends({8, 32, 1}, 32, 4), Ends({2, 4, 6, 8}));
}

TEST(OrderByWorker, GivesPartsThatDifferByATask) {
  EXPECT_EQ(queue_ends({7, 1, 1}, 1, 2), Ends({3, 7}));
  EXPECT_EQ(queue_ends({8, 1, 1}, 1, 3), Ends({2, 5, 8}));
}

TEST(OrderByWorker, LeavesWorkersOutWhereTasksAreFew) {
  EXPECT_EQ(queue_ends({1, 1, 1}, 1, 2), Ends({0, 1}));
  EXPECT_EQ(queue_ends({2, 1, 1}, 1, 4), Ends({0, 1, 1, 2}));
}

// The part of a worker is the same stretch of each launch, whatever its tasks' size.
TEST(OrderByWorker, GivesAWorkerTheSameStretchOfEachLaunch) {
  WindowBuilder builder;
  builder.add_launch({64, 1, 1}, 4, do_nothing);
  builder.add_launch({64, 1, 1}, 16, do_nothing);
  order_by_worker(builder.plan, 2);
  const Plan& plan = builder.plan;
  for (uint32_t place = 0; place < plan.queue_tickets.size(); ++place) {
    const Task& task = plan.tasks[plan.queue_tickets[place]];
    EXPECT_EQ(task.first_block >= 32, place >= plan.queue_ends[0]);
  }
}

TEST(OrderByWorker, KeepsLaunchesInTheirOrder) {
  WindowBuilder builder;
  for (int launch = 0; launch < 5; ++launch) {
    builder.add_launch({6, 1, 1}, 1, do_nothing);
    if (launch > 0)
      builder.depend(launch - 1, megakernel::testing::all_table({6, 1, 1}, {6, 1, 1}));
  }
  order_by_worker(builder.plan, 3);
  EXPECT_TRUE(std::ranges::is_sorted(builder.plan.tasks, {}, &Task::launch));
  EXPECT_TRUE(validate(builder.plan));
}

TEST(OrderByWorker, HoldsEveryTaskOnce) {
  std::mt19937 random(5);
  const auto draw = [&](uint32_t most) { return static_cast<uint32_t>(1 + random() % most); };
  for (int round = 0; round < 2000; ++round) {
    WindowBuilder builder;
    for (uint32_t launch = draw(4); launch > 0; --launch) {
      const Dim3 grid{draw(40), draw(40), draw(3)};
      builder.add_launch(grid, draw(static_cast<uint32_t>(grid.count())), do_nothing);
    }
    const uint32_t workers = draw(6);
    order_by_worker(builder.plan, workers);
    ASSERT_EQ(builder.plan.queue_ends.size(), workers);
    ASSERT_EQ(builder.plan.queue_ends.back(), builder.plan.tasks.size());
    const Status valid = validate(builder.plan);
    ASSERT_TRUE(valid) << valid.error().line();
  }
}

}  // namespace
}  // namespace sluice::schedule
