// Orders as runs say the same as lists of tasks, in few numbers where they are regular.
#include "schedule/task_runs.hpp"

#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "megakernel/random_windows.hpp"
#include "schedule/order.hpp"
#include "schedule/planner.hpp"
#include "schedule/small_launches.hpp"
#include "schedule/validate.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::offset_table;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Plan of launches of so many tasks of one block each, in an order that names launch and task.
Plan plan_of(const std::vector<uint32_t>& tasks,
             const std::vector<std::pair<uint32_t, uint32_t>>& order) {
  Plan plan;
  for (const uint32_t count : tasks) {
    plan.launches.push_back({.block_count = count, .first_flag = plan.flag_count});
    plan.flag_count += count;
  }
  for (const auto& [launch, task] : order)
    plan.tasks.push_back({launch, task, 1});
  return plan;
}

// expect_same() finds the runs of a plan with a list, and compares.
Plan expect_same(const Plan& listed) {
  Plan runs = listed;
  find_runs(runs);
  const Status valid = validate(runs);
  EXPECT_TRUE(valid) << valid.error().line();
  size_t ticket = 0;
  for_each_task(runs, [&](const Task& task) {
    ASSERT_LT(ticket, listed.tasks.size());
    EXPECT_EQ(task.launch, listed.tasks[ticket].launch);
    EXPECT_EQ(task.first_block, listed.tasks[ticket].first_block);
    ++ticket;
  });
  EXPECT_EQ(ticket, listed.tasks.size());
  return runs;
}

TEST(TaskRuns, OfLaunchesOneAfterAnotherAreOneEach) {
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t launch = 0; launch < 2; ++launch)
    for (uint32_t task = 0; task < 10; ++task)
      order.emplace_back(launch, task);
  const Plan runs = expect_same(plan_of({10, 10}, order));
  EXPECT_THAT(runs.tasks, IsEmpty());
  EXPECT_THAT(runs.runs, ElementsAre(TaskRun{0, 10, 1, 0, 0, 0}, TaskRun{10, 10, 1, 1, 0, 0}));
}

TEST(TaskRuns, OfASkewedOrderGoRoundItsLaunches) {
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t round = 0; round < 24; ++round)
    for (uint32_t launch = 0; launch < 3; ++launch)
      if (round >= 2 * launch && round - 2 * launch < 20)
        order.emplace_back(launch, round - 2 * launch);
  const Plan runs = expect_same(plan_of({20, 20, 20}, order));
  ASSERT_THAT(runs.runs, SizeIs(3));
  // What none of eight tickets has stands in the lists before and behind it.
  EXPECT_EQ(runs.runs[1], (TaskRun{6, 48, 3, 0, 4, 2}));
  EXPECT_THAT(runs.tasks, SizeIs(12));
}

TEST(TaskRuns, AreAListWhereTheOrderIsNotRegular) {
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t task = 0; task < 100; ++task)
    order.emplace_back(0, task);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  const Plan runs = expect_same(plan_of({100}, order));
  EXPECT_THAT(runs.runs, SizeIs(1));
  EXPECT_THAT(runs.tasks, SizeIs(100));
}

TEST(TaskRuns, SayTheSameAsAnyList) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const uint32_t launches = 1 + random() % 4;
    std::vector<uint32_t> tasks(launches);
    for (uint32_t& count : tasks)
      count = 1 + random() % 30;
    // Now one launch goes on for a while, now several do in turn.
    std::vector<uint32_t> next(launches, 0);
    std::vector<std::pair<uint32_t, uint32_t>> order;
    for (uint32_t left = launches; left > 0;) {
      const uint32_t first = random() % launches, last = first + random() % (launches - first);
      for (uint32_t rounds = 1 + random() % 12; rounds > 0; --rounds) {
        for (uint32_t launch = first; launch <= last; ++launch) {
          if (next[launch] == tasks[launch]) continue;
          order.emplace_back(launch, next[launch]);
          left -= ++next[launch] == tasks[launch] ? 1 : 0;
        }
      }
    }
    expect_same(plan_of(tasks, order));
    if (::testing::Test::HasFailure()) return;
  }
}

// Sweeps that may not go on, or begin, by the edges of those before them, whatever these are.
TEST(TaskRuns, OfSweepsAreInTheOrderOfTheList) {
  megakernel::testing::Random random(3);
  size_t tickets = 0, runs = 0;
  for (int i = 0; i < 2000; ++i) {
    megakernel::testing::WindowBuilder builder;
    const auto pick = [&](uint32_t first, uint32_t last) {
      return megakernel::testing::pick(random, first, last);
    };
    const uint32_t blocks = pick(1, 200), launches = pick(1, 6), blocks_per_task = pick(1, 3);
    const bool is_even = pick(0, 4) != 0;
    for (uint32_t launch = 0; launch < launches; ++launch) {
      const Dim3 slaves{is_even ? blocks : pick(1, 200), 1, 1};
      builder.add_launch(slaves, blocks_per_task, {});
      for (uint32_t master = launch - std::min(launch, 2U); master < launch; ++master) {
        const Dim3 masters{builder.plan.launches[master].block_count, 1, 1};
        const auto far = static_cast<int32_t>(pick(0, 20));
        const uint32_t kind = pick(0, 9);
        if (kind < 3 && is_even) {
          builder.depend(master, offset_table(masters, {{-far, 0, 0}, {far, 0, 0}}));
        } else if (kind < 6 && is_even) {
          builder.depend(master, offset_table(masters, {{-far, 0, 0}}));
        } else if (kind == 6) {
          builder.depend(master, megakernel::testing::random_table(random, masters, slaves));
        }
      }
    }
    builder.plan.tiles = {{.first = 0, .end = launches, .slack = pick(0, 3)}};
    Plan listed = builder.plan;
    order_by_tiles(listed);
    run_by_tiles(builder.plan);
    const Status valid = validate(builder.plan);
    ASSERT_TRUE(valid) << valid.error().line();
    size_t ticket = 0;
    for_each_task(builder.plan, [&](const Task& task) {
      const Task& wanted = listed.tasks[ticket++];
      EXPECT_EQ(task.launch, wanted.launch) << "window " << i << ", ticket " << ticket - 1;
      EXPECT_EQ(task.first_block, wanted.first_block);
    });
    if (::testing::Test::HasFailure()) return;
    tickets += ticket;
    runs += builder.plan.runs.size() + builder.plan.tasks.size();
  }
  EXPECT_LT(runs, tickets * 3 / 4);  // some are regular
}

// A device divides by one multiplication up to 2^32 / launches.
TEST(TaskRuns, AreNoLongerThanADeviceDivides) {
  constexpr uint32_t launches = 2048, rounds = 1100;
  Plan plan;
  for (uint32_t i = 0; i < launches; ++i) {
    plan.launches.push_back({.block_count = rounds, .first_flag = plan.flag_count});
    plan.flag_count += rounds;
  }
  RunWriter writer(plan);
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint32_t launch = 0; launch < launches; ++launch)
      writer.add(launch, round);
  writer.finish();
  ASSERT_THAT(plan.runs, SizeIs(2));
  for (const TaskRun& run : plan.runs) {
    const uint64_t reciprocal = UINT32_MAX / run.launches;
    for (const uint32_t from_first : {0U, 2047U, 2048U, run.count - 2048, run.count - 1})
      EXPECT_EQ((from_first + 1) * reciprocal >> 32U, from_first / run.launches);
  }
}

// A window of 256 steps of a stencil of 4096^2 cells, in blocks of 16 x 16: 8 million tasks.
TEST(TaskRuns, AreAFewForEachLaunchOfALongChain) {
  constexpr uint32_t launches = 256;
  const Dim3 grid{256, 256, 1};
  const dro::EdgeTable edges = megakernel::testing::cross_table(grid);
  const std::vector<TouchedBuffer> touched = {{1, uint64_t{64} << 20U}, {2, uint64_t{64} << 20U}};
  std::vector<Dependence> masters;
  for (uint32_t i = 0; i < launches; ++i)
    masters.push_back({i - 1, &edges});
  std::vector<Launch> asked;
  for (uint32_t i = 0; i < launches; ++i) {
    asked.push_back({.grid = grid, .block = {16, 16, 1}, .touched = touched});
    if (i > 0) asked.back().dependences = {&masters[i], 1};
  }
  Planner planner({.task_threads = device_task_threads, .in_runs = true});
  planner.fit(1056, uint64_t{50} << 20U);
  const Plan plan = planner.plan(asked);
  EXPECT_EQ(plan.flag_count, 256U * 32768);
  EXPECT_GT(plan.tiles.front().end, 10U);  // swept together
  EXPECT_LE(plan.runs.size(), 3U * launches);
  EXPECT_LE(plan.tasks.size(), size_t{launches});
  EXPECT_LE(plan.tasks.capacity(), size_t{4} * launches);
}

TEST(TaskRuns, AreLookedAtByTheValidator) {
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t task = 0; task < 16; ++task)
    order.emplace_back(0, task);
  const Plan right = expect_same(plan_of({16}, order));
  const auto is_refused = [&](auto&& change) {
    Plan plan = right;
    change(plan);
    return !validate(plan);
  };
  EXPECT_FALSE(is_refused([](Plan&) {}));
  EXPECT_TRUE(is_refused([](Plan& plan) { plan.runs[0].first_ticket = 1; }));
  EXPECT_TRUE(is_refused([](Plan& plan) { plan.runs[0].count = 17; }));
  EXPECT_TRUE(is_refused([](Plan& plan) { plan.runs[0].launches = 2; }));
  EXPECT_TRUE(is_refused([](Plan& plan) { plan.runs[0].launches = 0; }));
  EXPECT_TRUE(is_refused([](Plan& plan) { plan.runs[0].first_task = 1; }));
  EXPECT_TRUE(is_refused([](Plan& plan) { plan.tasks.push_back({0, 0, 1}); }));
}

// Launches that stand elsewhere than they were swept keep their order.
TEST(TaskRuns, ArePutBackWithTheirLaunches) {
  Plan plan = plan_of({10, 1, 10}, {});
  plan.tiles = {{.first = 0, .end = 1}, {.first = 1, .end = 2}, {.first = 2, .end = 3}};
  run_by_tiles(plan);
  put_back(plan, std::vector<uint32_t>{0, 2, 1});
  std::vector<uint32_t> launches;
  for_each_task(plan, [&](const Task& task) { launches.push_back(task.launch); });
  std::vector<uint32_t> wanted(10, 0);
  wanted.push_back(2);
  wanted.insert(wanted.end(), 10, 1);
  EXPECT_EQ(launches, wanted);
}

}  // namespace
}  // namespace sluice::schedule
