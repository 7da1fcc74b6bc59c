// Windows become tables that the executor's own validator accepts, cut into tasks worth a ticket.
#include "runtime/plan.hpp"

#include <gtest/gtest.h>

#include "megakernel/validate.hpp"
#include "megakernel/window_builder.hpp"

namespace sluice::runtime {
namespace {

OrderLimits for_workers(uint32_t workers) {
  return {.workers = workers};
}

TEST(BlocksPerTask, IsWhatATicketIsWorthHoweverLargeTheGrid) {
  EXPECT_EQ(blocks_per_task({128, 512, 1}, {32, 8, 1}, for_workers(2)),
            64U);  // 16384 threads: half a row
  EXPECT_EQ(blocks_per_task({1 << 20, 1, 1}, {256, 1, 1}, for_workers(8)), 64U);
  EXPECT_EQ(blocks_per_task({24, 512, 1}, {32, 8, 1}, for_workers(2)), 48U);  // two rows
}

TEST(BlocksPerTask, DoesNotCutBelowWhatATicketIsWorth) {
  EXPECT_EQ(blocks_per_task({64, 64, 1}, {16, 16, 1}, for_workers(16)),
            64U);  // 16384 threads: a row
  EXPECT_EQ(blocks_per_task({8, 8, 1}, {2, 2, 1}, for_workers(4)),
            16U);  // a quarter of the grid each
}

TEST(BlocksPerTask, IsAtLeastOneBlock) {
  EXPECT_EQ(blocks_per_task({1, 1, 1}, {1, 1, 1}, for_workers(64)), 1U);
  EXPECT_EQ(blocks_per_task({3, 1, 1}, {1024, 1, 1}, for_workers(64)), 1U);
}

TEST(BlocksPerTask, IsShortWhereBlocksWereMeasuredToTakeLong) {
  EXPECT_EQ(blocks_per_task({32, 1, 1}, {128, 1, 1}, for_workers(2), 100'000), 1U);
  EXPECT_EQ(blocks_per_task({1024, 1, 1}, {256, 1, 1}, for_workers(16), 2'000), 4U);
}

// Smaller tasks would not make workers end together any better, and blocks that lie side by side
// often wait for the same ones.
TEST(BlocksPerTask, IsNoShorterThanWorkersNeedToEndTogether) {
  EXPECT_EQ(blocks_per_task({64, 64, 1}, {16, 16, 1}, for_workers(2), 10'000), 32U);
  EXPECT_EQ(blocks_per_task({64, 1024, 1}, {16, 16, 1}, for_workers(2), 10'000), 64U);
}

TEST(BlocksPerTask, IsLongWhereBlocksWereMeasuredToTakeLittle) {
  EXPECT_EQ(blocks_per_task({1 << 20, 1, 1}, {256, 1, 1}, for_workers(2), 8), 512U);
}

TEST(BlocksPerTask, IsShortWhereBlocksAreStillToBeMeasured) {
  OrderLimits limits = for_workers(2);
  limits.on_host = true;
  EXPECT_EQ(blocks_per_task({32, 1, 1}, {256, 1, 1}, limits), 2U);
  EXPECT_EQ(blocks_per_task({32, 1, 1}, {256, 1, 1}, limits, 200), 16U);
  EXPECT_EQ(blocks_per_task({3, 1, 1}, {256, 1, 1}, limits), 1U);
  EXPECT_EQ(blocks_per_task({128, 512, 1}, {32, 8, 1}, limits), 64U);
}

TEST(BlocksPerTask, DependsOnNoMeasurementInBetween) {
  for (const uint32_t nanoseconds : {40U, 100U, 300U})
    EXPECT_EQ(blocks_per_task({128, 512, 1}, {32, 8, 1}, for_workers(2), nanoseconds), 64U);
}

TEST(BlocksPerTask, SharesFewTasksOutEvenly) {
  EXPECT_EQ(blocks_per_task({96, 1, 1}, {512, 1, 1}, for_workers(2)), 24U);  // four, not three
}

void unused(const SluiceBlockLaunch*, uint32_t, uint32_t, void*) {}

TEST(Plan, KeepsArgumentsAndDependencesOfEachLaunch) {
  const SluiceBlockCode code{unused, 128};
  const LaunchCall call{.grid = {9, 7, 1}, .block = {64, 1, 1}, .dynamic_shared_bytes = 96};
  const dro::EdgeTable table = megakernel::testing::cross_table(call.grid);
  LaunchWindow window(nullptr, 40);
  for (uint8_t i = 0; i < 10; ++i) {
    const std::vector<std::byte> parameters(size_t{5} + i, std::byte{i});
    window.append(call, code, parameters);
    if (i > 0) window.depend_on(39U + i, table);
    if (i > 4) window.depend_on(41, table);
  }
  PlannedWindow planned{.held = std::move(window)};
  Planner({.workers = 3}).plan(planned);
  const megakernel::Window& tables = planned.tables;
  const Status valid = megakernel::validate(tables);
  ASSERT_TRUE(valid) << valid.error().line();
  ASSERT_EQ(tables.slots.size(), 10U);
  for (uint8_t i = 0; i < 10; ++i) {
    const megakernel::LaunchSlot& slot = tables.slots[i];
    EXPECT_EQ(slot.launch->grid[0], 9U);
    EXPECT_EQ(slot.launch->grid[1], 7U);
    EXPECT_EQ(slot.launch->dynamic_shared_bytes, 96U);
    EXPECT_EQ(slot.code.scratch_bytes, 128U);
    EXPECT_EQ(slot.block_count, 63U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slot.launch->parameters) % 16, 0U);
    for (size_t byte = 0; byte < size_t{5} + i; ++byte) {
      EXPECT_EQ(static_cast<const uint8_t*>(slot.launch->parameters)[byte], i);
    }
    ASSERT_EQ(slot.dependence_count, i == 0 ? 0U : (i > 4 ? 2U : 1U));
    if (i > 0) {
      EXPECT_EQ(tables.dependences[slot.first_dependence].master_slot, i - 1U);
    }
    if (i > 4) {
      EXPECT_EQ(tables.dependences[slot.first_dependence + 1].master_slot, 1U);
    }
  }
}

TEST(Plan, CutsByWhatBlocksCostWhenItIsMade) {
  const LaunchCall call{.grid = {32, 1, 1}, .block = {256, 1, 1}};
  megakernel::BlockCost cost;
  Planner planner({.workers = 2, .on_host = true});
  for (const size_t tasks : {16U, 32U}) {
    PlannedWindow window{.held = LaunchWindow(nullptr, 1)};
    window.held.append(call, {unused, 0}, {});
    window.held.measure(&cost);
    if (tasks == 32U) cost.note(std::chrono::milliseconds(3), 1);
    planner.plan(window);
    EXPECT_EQ(window.tables.tasks.size(), tasks);
  }
}

// chain() is a window of launches that each step from one of two buffers to the other.
PlannedWindow chain(uint64_t buffer_bytes, const dro::EdgeTable& table,
                    megakernel::BlockCost* cost = nullptr) {
  LaunchWindow window(nullptr, 1);
  const TouchedBuffer touched[] = {{1, buffer_bytes}, {2, buffer_bytes}};
  const LaunchCall call{.grid = table.slave_grid, .block = {32, 8, 1}};
  for (uint32_t i = 0; i < 6; ++i) {
    window.append(call, {unused, 0}, {}, touched);
    window.measure(cost);
    if (i > 0) window.depend_on(i, table);
  }
  return {.held = std::move(window)};
}

TEST(Plan, FillsTheWorkersOwnCachesWhereTheLastLevelIsFar) {
  constexpr uint64_t mebibyte = uint64_t{1} << 20U;
  EXPECT_EQ(band_cache_bytes(32 * mebibyte, 2 * mebibyte), 8 * mebibyte);
  EXPECT_EQ(band_cache_bytes(260 * mebibyte, 4 * mebibyte), 4 * mebibyte);
  EXPECT_EQ(band_cache_bytes(260 * mebibyte, 0), 65 * mebibyte);
  EXPECT_EQ(band_cache_bytes(0, 0), 2 * mebibyte);
}

TEST(Plan, GivesEachWorkerItsPartOfTheBlocksWhereAllFitsTheirCaches) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  PlannedWindow window = chain(1000, table);
  const OrderLimits limits{.cache_bytes = 8000, .workers = 2, .own_cache_bytes = 2000};
  Planner(limits).plan(window);
  const megakernel::Window& tables = window.tables;
  const Status valid = megakernel::validate(tables);
  ASSERT_TRUE(valid) << valid.error().line();
  ASSERT_EQ(tables.lane_ends.size(), 2U);
  EXPECT_TRUE(window.bands.empty());
  for (uint32_t place = 0; place < tables.lane_tasks.size(); ++place) {
    const megakernel::Task& task = tables.tasks[tables.lane_tasks[place]];
    EXPECT_EQ(task.first_block >= 128, place >= tables.lane_ends[0]);
  }
}

TEST(Plan, GivesAFasterWorkerMoreOfTheBlocks) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  megakernel::BlockCost cost;
  cost.note(std::chrono::nanoseconds(300), 1);
  PlannedWindow window = chain(1000, table, &cost);
  const OrderLimits limits{.cache_bytes = 8000, .workers = 2, .own_cache_bytes = 2000};
  Planner(limits).plan(window, {0.5, 1});
  const megakernel::Window& tables = window.tables;
  const Status valid = megakernel::validate(tables);
  ASSERT_TRUE(valid) << valid.error().line();
  for (uint32_t place = 0; place < tables.lane_tasks.size(); ++place) {
    const megakernel::Task& task = tables.tasks[tables.lane_tasks[place]];
    EXPECT_EQ(task.first_block >= 80, place >= tables.lane_ends[0]);  // 10 rows of 32
  }
}

// The first blocks of a kernel find its code cold: a hundred times their cost is no reason for
// tasks of two blocks.
TEST(Plan, CutsByTheLeastOfTheFirstMeasurements) {
  const LaunchCall call{.grid = {8, 32, 1}, .block = {256, 1, 1}};
  megakernel::BlockCost cost;
  cost.note(std::chrono::microseconds(120), 16);
  ASSERT_TRUE(cost.wants_more());
  cost.note(std::chrono::microseconds(1), 16);
  PlannedWindow window{.held = LaunchWindow(nullptr, 1)};
  window.held.append(call, {unused, 0}, {});
  window.held.measure(&cost);
  Planner({.workers = 2}).plan(window);
  EXPECT_EQ(window.tables.tasks.size(), 4U);
}

TEST(BlockCost, WantsMoreUntilItHasSomeMeasurements) {
  megakernel::BlockCost cost;
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(cost.wants_more());
    cost.note(std::chrono::microseconds(1), 1);
  }
  EXPECT_FALSE(cost.wants_more());
}

// A chain of matrix products gains nothing from a band, and what each launch reads again and again
// takes the caches from the others.
TEST(Plan, SweepsLaunchesOneAfterAnotherWhoseBlocksHardlyTouchMemory) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  const OrderLimits limits{.cache_bytes = 8'000'000, .workers = 2};
  for (const bool computes : {false, true}) {
    megakernel::BlockCost cost;
    cost.note(std::chrono::nanoseconds(computes ? 40'000 : 4'000), 1);  // 256 blocks a launch
    PlannedWindow window = chain(1'000'000, table, &cost);
    Planner(limits).plan(window);
    EXPECT_EQ(window.bands.size(), computes ? 6U : 1U);
  }
}

TEST(Plan, LetsWorkersShareOneLaneWhereTheBuffersDoNotFit) {
  const dro::EdgeTable table = megakernel::testing::cross_table({8, 32, 1});
  PlannedWindow window = chain(1001, table);
  const OrderLimits limits{.cache_bytes = 8000, .workers = 2, .own_cache_bytes = 2000};
  Planner(limits).plan(window);
  EXPECT_TRUE(window.tables.lane_ends.empty());
}

}  // namespace
}  // namespace sluice::runtime
