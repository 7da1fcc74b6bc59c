// Launches become plans that the validator accepts, cut into tasks worth a ticket.
#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include <gtest/gtest.h>

#include "dro/types.hpp"
#include "megakernel/window_builder.hpp"
#include "schedule/block_cost.hpp"
#include "schedule/buffer_set.hpp"
#include "schedule/planner.hpp"
#include "schedule/validate.hpp"

namespace sluice::schedule {
namespace {

Machine for_workers(uint32_t workers) {
  return {.workers = workers};
}

uint32_t blocks(const Dim3& grid, const Dim3& block, const Machine& machine,
                uint32_t block_nanoseconds = 0) {
  return blocks_per_task({.grid = grid, .block = block, .block_nanoseconds = block_nanoseconds},
                         machine);
}

TEST(BlocksPerTask, IsWhatATicketIsWorthHoweverLargeTheGrid) {
  EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, for_workers(2)),
            64U);  // 16384 threads: half a row
  EXPECT_EQ(blocks({1 << 20, 1, 1}, {256, 1, 1}, for_workers(8)), 64U);
  EXPECT_EQ(blocks({24, 512, 1}, {32, 8, 1}, for_workers(2)), 48U);  // two rows
}

TEST(BlocksPerTask, DoesNotCutBelowWhatATicketIsWorth) {
  EXPECT_EQ(blocks({64, 64, 1}, {16, 16, 1}, for_workers(16)),
            64U);  // 16384 threads: a row
  EXPECT_EQ(blocks({8, 8, 1}, {2, 2, 1}, for_workers(4)),
            16U);  // a quarter of the grid each
}

TEST(BlocksPerTask, IsAtLeastOneBlock) {
  EXPECT_EQ(blocks({1, 1, 1}, {1, 1, 1}, for_workers(64)), 1U);
  EXPECT_EQ(blocks({3, 1, 1}, {1024, 1, 1}, for_workers(64)), 1U);
}

TEST(BlocksPerTask, IsShortWhereBlocksWereMeasuredToTakeLong) {
  EXPECT_EQ(blocks({32, 1, 1}, {128, 1, 1}, for_workers(2), 100'000), 1U);
  EXPECT_EQ(blocks({1024, 1, 1}, {256, 1, 1}, for_workers(16), 2'000), 4U);
}

// Smaller tasks would not make workers end together any better, and blocks that lie side by side
// often wait for the same ones.
TEST(BlocksPerTask, IsNoShorterThanWorkersNeedToEndTogether) {
  EXPECT_EQ(blocks({64, 64, 1}, {16, 16, 1}, for_workers(2), 10'000), 32U);
  EXPECT_EQ(blocks({64, 1024, 1}, {16, 16, 1}, for_workers(2), 10'000), 64U);
}

TEST(BlocksPerTask, IsLongWhereBlocksWereMeasuredToTakeLittle) {
  EXPECT_EQ(blocks({1 << 20, 1, 1}, {256, 1, 1}, for_workers(2), 8), 256U);
}

// A GPU's: 65536 blocks of 3 microseconds each, which were two of them a ticket before they were
// measured.
TEST(BlocksPerTask, IsWorthTheTimeThatADeviceAsksForWhereBlocksAllow) {
  const Machine gpu{.workers = 1056,
                    .task_threads = device_task_threads,
                    .least_nanoseconds = device_task_nanoseconds};
  EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, gpu), 2U);
  EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, gpu, 3'000), 8U);
  EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, gpu, 25'000), 1U);
  EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, gpu, 1),
            43U);  // a third of a row, as many tasks as workers
  EXPECT_EQ(blocks({64, 1, 1}, {32, 8, 1}, gpu, 1), 1U);
}

TEST(BlocksPerTask, IsShortWhereBlocksAreStillToBeMeasured) {
  Machine machine = for_workers(2);
  machine.on_host = true;
  EXPECT_EQ(blocks({32, 1, 1}, {256, 1, 1}, machine), 2U);
  EXPECT_EQ(blocks({32, 1, 1}, {256, 1, 1}, machine, 200), 16U);
  EXPECT_EQ(blocks({3, 1, 1}, {256, 1, 1}, machine), 1U);
  EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, machine), 64U);
}

TEST(BlocksPerTask, DependsOnNoMeasurementInBetween) {
  for (const uint32_t nanoseconds : {40U, 100U, 300U})
    EXPECT_EQ(blocks({128, 512, 1}, {32, 8, 1}, for_workers(2), nanoseconds), 64U);
}

TEST(BlocksPerTask, SharesFewTasksOutEvenly) {
  EXPECT_EQ(blocks({96, 1, 1}, {512, 1, 1}, for_workers(2)), 24U);  // four, not three
}

// Launches owns what the launches of a test point to.
class Launches {
 public:
  void add(const Dim3& grid, const Dim3& block, std::vector<Dependence> dependences = {},
           std::vector<TouchedBuffer> touched = {}, uint32_t block_nanoseconds = 0) {
    dependences_.push_back(std::move(dependences));
    touched_.push_back(std::move(touched));
    launches.push_back({grid, block, block_nanoseconds, dependences_.back(), touched_.back()});
  }

  std::vector<Launch> launches;

 private:
  std::deque<std::vector<Dependence>> dependences_;
  std::deque<std::vector<TouchedBuffer>> touched_;
};

void expect_valid(const Plan& plan) {
  const Status valid = validate(plan);
  EXPECT_TRUE(valid) << valid.error().line();
}

TEST(Plan, KeepsTheDependencesOfEachLaunch) {
  const Dim3 grid{9, 7, 1};
  const dro::EdgeTable table = megakernel::testing::cross_table(grid);
  Launches window;
  for (uint32_t i = 0; i < 10; ++i) {
    std::vector<Dependence> dependences;
    if (i > 0) dependences.push_back({i - 1, &table});
    if (i > 4) dependences.push_back({1, &table});
    window.add(grid, {64, 1, 1}, dependences);
  }
  const Plan plan = Planner({.workers = 3}).plan(window.launches);
  expect_valid(plan);
  ASSERT_EQ(plan.launches.size(), 10U);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(plan.launches[i].block_count, 63U);
    const auto dependences = plan.dependences_of(plan.launches[i]);
    ASSERT_EQ(dependences.size(), i == 0 ? 0U : (i > 4 ? 2U : 1U));
    if (i > 0) {
      EXPECT_EQ(dependences[0].master, i - 1U);
    }
    if (i > 4) {
      EXPECT_EQ(dependences[1].master, 1U);
    }
  }
}

// loop() is a window of steps back and forth between two buffers.
Launches loop(uint32_t steps, const dro::EdgeTable& table, dro::BufferId first,
              uint32_t nanoseconds = 100) {
  Launches window;
  for (uint32_t i = 0; i < steps; ++i) {
    std::vector<Dependence> dependences;
    if (i > 0) dependences.push_back({i - 1, &table});
    window.add(table.master_grid, {64, 1, 1}, dependences,
               {{first + i % 2, 1 << 20}, {first + (i + 1) % 2, 1 << 20}}, nanoseconds);
  }
  return window;
}

void expect_equal(const Plan& a, const Plan& b) {
  const auto same = [](const Task& x, const Task& y) {
    return x.launch == y.launch && x.first_block == y.first_block && x.block_count == y.block_count;
  };
  EXPECT_TRUE(std::ranges::equal(a.tasks, b.tasks, same));
  EXPECT_EQ(a.queue_tickets, b.queue_tickets);
  EXPECT_EQ(a.queue_ends, b.queue_ends);
  EXPECT_EQ(a.tiles, b.tiles);
}

TEST(Plan, OfAWindowThatHasComeTwiceIsKnown) {
  const dro::EdgeTable table = megakernel::testing::cross_table({32, 32, 1});
  const Machine machine{.cache_bytes = 4 << 20, .workers = 2};
  Planner planner(machine);
  for (const dro::BufferId first : {1U, 5U, 9U, 11U}) {
    const Plan plan = planner.plan(loop(20, table, first).launches);
    expect_valid(plan);
    expect_equal(plan, Planner(machine).plan(loop(20, table, first).launches));
  }
  EXPECT_EQ(planner.count().ordered, 2U);
  EXPECT_EQ(planner.count().again, 2U);
}

TEST(Plan, OfAnotherWindowIsNotTheKnownOne) {
  const dro::EdgeTable table = megakernel::testing::cross_table({32, 32, 1});
  const dro::EdgeTable equal = megakernel::testing::cross_table({32, 32, 1});
  Planner planner({.cache_bytes = 4 << 20, .workers = 2});
  for (int i = 0; i < 3; ++i)
    planner.plan(loop(20, table, 1).launches);
  ASSERT_EQ(planner.count().again, 1U);
  Launches in_place;
  for (uint32_t i = 0; i < 20; ++i) {
    std::vector<Dependence> dependences;
    if (i > 0) dependences.push_back({i - 1, &table});
    in_place.add({32, 32, 1}, {64, 1, 1}, dependences, {{1, 1 << 20}, {1, 1 << 20}}, 100);
  }
  planner.plan(in_place.launches);
  planner.plan(loop(19, table, 1).launches);
  planner.plan(loop(20, equal, 1).launches);
  planner.plan(loop(20, table, 1, 1'000'000).launches);
  EXPECT_EQ(planner.count().again, 1U);
  planner.fit(3, 4 << 20);
  planner.plan(loop(20, table, 1).launches);
  EXPECT_EQ(planner.count().again, 1U);
}

TEST(Plan, CutsByWhatBlocksCostWhenItIsMade) {
  Planner planner({.workers = 2, .on_host = true});
  for (const uint32_t nanoseconds : {0U, 3'000'000U}) {
    Launches window;
    window.add({32, 1, 1}, {256, 1, 1}, {}, {}, nanoseconds);
    EXPECT_EQ(planner.plan(window.launches).tasks.size(), nanoseconds == 0 ? 16U : 32U);
  }
}

// chain() is launches that each step from one of two buffers to the other.
Launches chain(uint64_t buffer_bytes, const dro::EdgeTable& table, uint32_t block_nanoseconds = 0) {
  Launches window;
  for (uint32_t i = 0; i < 6; ++i) {
    std::vector<Dependence> dependences;
    if (i > 0) dependences.push_back({i - 1, &table});
    window.add(table.slave_grid, {32, 8, 1}, dependences, {{1, buffer_bytes}, {2, buffer_bytes}},
               block_nanoseconds);
  }
  return window;
}

TEST(Plan, FillsTheWorkersOwnCachesWhereTheLastLevelIsFar) {
  constexpr uint64_t mebibyte = uint64_t{1} << 20U;
  EXPECT_EQ(tile_cache_bytes(32 * mebibyte, 2 * mebibyte), 8 * mebibyte);
  EXPECT_EQ(tile_cache_bytes(260 * mebibyte, 4 * mebibyte), 4 * mebibyte);
  EXPECT_EQ(tile_cache_bytes(260 * mebibyte, 0), 65 * mebibyte);
  EXPECT_EQ(tile_cache_bytes(0, 0), 2 * mebibyte);
}

const Machine small_caches{.cache_bytes = 8000, .workers = 2, .own_cache_bytes = 2000};

TEST(Plan, GivesEachWorkerItsPartOfTheBlocksWhereAllFitsTheirCaches) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  const Plan plan = Planner(small_caches).plan(chain(1000, table).launches);
  expect_valid(plan);
  ASSERT_EQ(plan.queue_ends.size(), 2U);
  EXPECT_TRUE(plan.tiles.empty());
  for (uint32_t place = 0; place < plan.queue_tickets.size(); ++place) {
    const Task& task = plan.tasks[plan.queue_tickets[place]];
    EXPECT_EQ(task.first_block >= 128, place >= plan.queue_ends[0]);
  }
}

TEST(Plan, LetsWorkersShareOneQueueWhereTheBuffersDoNotFit) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  EXPECT_TRUE(Planner(small_caches).plan(chain(1001, table).launches).queue_ends.empty());
}

// A device's workers and cache are known when its first window comes.
TEST(Plan, FitsWhatADeviceSaysOfItself) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  const Launches window = chain(1'000'000, table);
  Planner planner({.task_threads = 512});
  planner.fit(64, 1'990'000);
  const Plan wide = planner.plan(window.launches);
  expect_valid(wide);
  EXPECT_LT(wide.tiles.size(), window.launches.size());
  EXPECT_EQ(wide.launches[0].cut.blocks_per_task, 2U);
  planner.fit(64, 400'000);
  EXPECT_GT(planner.plan(window.launches).tiles.size(), wide.tiles.size());
}

// Sweeps that share a tile take turns at its launches, which costs a device's workers more than
// they gain where a cache brings nothing.
TEST(Plan, LeavesADevicesLaunchesAsTheyComeWhereACacheBringsNothing) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  Planner planner({.task_threads = 512, .least_nanoseconds = device_task_nanoseconds});
  const auto tiles = [&](uint32_t block_nanoseconds) {
    const Launches window = chain(1'000'000, table, block_nanoseconds);
    const Plan plan = planner.plan(window.launches);
    expect_valid(plan);
    return plan.tiles.size();
  };
  // 256 blocks of 64 workers touch 2 MB, for which memory of 1 GB/ms takes 2 us.
  planner.fit(64, 1'990'000, 1'000'000);
  EXPECT_EQ(tiles(0), 6U);  // not measured
  EXPECT_LT(tiles(500), 6U);
  EXPECT_EQ(tiles(600), 6U);
  // All of it fits.
  planner.fit(64, 2'000'000, 1'000'000);
  EXPECT_EQ(tiles(500), 6U);
}

TEST(Plan, OrdersAtRandomUnderStressAndEachTimeOtherwise) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  const Launches window = chain(1000, table);
  Planner planner({.workers = 2, .task_threads = 256, .stress = 3});
  const auto launches = [&] {
    const Plan plan = planner.plan(window.launches);
    expect_valid(plan);
    std::vector<uint32_t> order;
    for (const Task& task : plan.tasks)
      order.push_back(task.launch);
    return order;
  };
  EXPECT_NE(launches(), launches());
}

// A plan lives on when its planner has forgotten what it read.
TEST(Plan, KeepsItsTaskEdges) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  Plan plan;
  {
    Planner planner(small_caches);
    plan = planner.plan(chain(1000, table).launches);
  }
  EXPECT_EQ(plan.dependences[0].task_edges->masters(0).size(), 1U);
}

// The first blocks of a kernel find its code cold: a hundred times their cost is no reason for
// tasks of two blocks.
TEST(Plan, CutsByTheLesserOfTheFirstMeasurements) {
  BlockCost cost;
  cost.note(std::chrono::microseconds(120), 16);
  ASSERT_TRUE(cost.wants_more());
  cost.note(std::chrono::microseconds(1), 16);
  Launches window;
  window.add({8, 32, 1}, {256, 1, 1}, {}, {}, cost.nanoseconds());
  EXPECT_EQ(Planner({.workers = 2}).plan(window.launches).tasks.size(), 4U);
}

TEST(BlockCost, WantsMoreUntilItHasSomeMeasurements) {
  BlockCost cost;
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(cost.wants_more());
    cost.note(std::chrono::microseconds(1), 1);
  }
  EXPECT_FALSE(cost.wants_more());
}

// Tasks of a plane at the boundary, and tasks whose worker had lost its processor, are few among
// those of a launch: neither makes its blocks cheap or dear.
TEST(BlockCost, IsThatOfMostBlocks) {
  BlockCost cost;
  for (int i = 0; i < 64; ++i)
    cost.note(std::chrono::nanoseconds(i % 8 == 0 ? 40 : (i % 8 == 1 ? 4'000'000 : 8'000)), 4);
  EXPECT_EQ(cost.nanoseconds(), 2'000U);
}

TEST(BlockCost, FollowsAKernelWhoseBlocksGetCheaper) {
  BlockCost cost;
  for (int i = 0; i < 100; ++i)
    cost.note(std::chrono::nanoseconds(8'000), 1);
  for (int i = 0; i < 16; ++i)
    cost.note(std::chrono::nanoseconds(500), 1);
  EXPECT_EQ(cost.nanoseconds(), 500U);
}

// A chain of matrix products gains nothing from a tile, and what each launch reads again and again
// takes the caches from the others.
TEST(Plan, SweepsLaunchesOneAfterAnotherWhoseBlocksHardlyTouchMemory) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  for (const bool computes : {false, true}) {
    // 256 blocks a launch.
    const Launches window = chain(1'000'000, table, computes ? 40'000 : 4'000);
    const Plan plan = Planner({.cache_bytes = 8'000'000, .workers = 2}).plan(window.launches);
    EXPECT_EQ(plan.tiles.size(), computes ? 6U : 1U);
  }
}

TEST(BufferSet, CountsEachBufferOnce) {
  BufferSet buffers;
  const TouchedBuffer first[] = {{1, 100}, {2, 30}, {1, 70}};
  const TouchedBuffer second[] = {{2, 30}, {3, 5}};
  buffers.add(first);
  EXPECT_EQ(buffers.bytes(), 130U);
  buffers.add(second);
  EXPECT_EQ(buffers.bytes(), 135U);
}

}  // namespace
}  // namespace sluice::schedule
