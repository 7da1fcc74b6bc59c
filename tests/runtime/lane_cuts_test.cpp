// Launches are shared out so that workers of different speeds end together.
#include "runtime/lane_cuts.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

using Ends = std::vector<uint32_t>;

LaneCut cut(const Dim3& grid, uint32_t blocks_per_task, std::vector<double> speeds,
            uint32_t block_nanoseconds = 300) {
  return cut_for_lanes(grid, blocks_per_task, block_nanoseconds, speeds);
}

TEST(LaneCuts, AreEvenForWorkersThatAreAlike) {
  const LaneCut even = cut({8, 32, 1}, 64, {1, 1});
  EXPECT_EQ(even.blocks_per_task, 64U);
  EXPECT_EQ(even.lane_ends, Ends({2, 4}));
  EXPECT_EQ(cut({8, 32, 1}, 64, {0.7, 0.7}).lane_ends, Ends({2, 4}));
  EXPECT_EQ(cut({8, 32, 1}, 32, {1, 1, 1, 1}).lane_ends, Ends({2, 4, 6, 8}));
}

TEST(LaneCuts, FollowTheSpeeds) {
  const LaneCut third = cut({8, 32, 1}, 64, {0.5, 1});
  EXPECT_EQ(third.blocks_per_task, 40U);  // 5 rows of 32
  EXPECT_EQ(third.lane_ends, Ends({2, 7}));
  const LaneCut quarter = cut({8, 32, 1}, 64, {1, 1.0 / 3});
  EXPECT_EQ(quarter.blocks_per_task, 64U);
  EXPECT_EQ(quarter.lane_ends, Ends({3, 4}));
}

TEST(LaneCuts, AreEvenWhereLittleWouldBeWon) {
  EXPECT_EQ(cut({8, 32, 1}, 64, {1, 0.97}).lane_ends, Ends({2, 4}));
  // Blocks that cost hardly anything are not worth another task.
  EXPECT_EQ(cut({8, 32, 1}, 64, {1, 0.7}, 1).blocks_per_task, 64U);
}

TEST(LaneCuts, AreEvenWhileBlocksAreNotMeasured) {
  EXPECT_EQ(cut({8, 32, 1}, 64, {0.5, 1}, 0).lane_ends, Ends({2, 4}));
}

TEST(LaneCuts, LeaveWorkersOutWhereTasksAreFew) {
  EXPECT_EQ(cut({1, 1, 1}, 1, {1, 1}).lane_ends, Ends({1, 1}));
  EXPECT_EQ(cut({2, 1, 1}, 1, {1, 1, 1, 1}).lane_ends.back(), 2U);
}

TEST(LaneCuts, KeepPartsOfARowAsTheyAre) {
  EXPECT_EQ(cut({64, 2, 1}, 16, {0.6, 1}).blocks_per_task, 16U);
}

TEST(LaneCuts, HoldEveryTaskOnceInWholeRows) {
  std::mt19937 random(5);
  const auto draw = [&](uint32_t most) { return static_cast<uint32_t>(1 + random() % most); };
  for (int round = 0; round < 2000; ++round) {
    const Dim3 grid{draw(40), draw(40), draw(3)};
    const uint32_t blocks_per_task = round % 2 == 0 ? grid.x * draw(9) : draw(grid.x);
    std::vector<double> speeds(draw(6));
    for (double& speed : speeds)
      speed = 0.1 * draw(10);
    const LaneCut got = cut(grid, blocks_per_task, speeds, random() % 1000);
    ASSERT_EQ(got.lane_ends.size(), speeds.size());
    EXPECT_TRUE(std::is_sorted(got.lane_ends.begin(), got.lane_ends.end()));
    EXPECT_EQ(got.lane_ends.back(), (grid.count() + got.blocks_per_task - 1) / got.blocks_per_task);
    if (blocks_per_task % grid.x == 0 && grid.count() != grid.x) {
      EXPECT_EQ(got.blocks_per_task % grid.x, 0U);
    }
  }
}

TEST(LaneCuts, AreRememberedByShapeAndCost) {
  const double speeds[] = {0.5, 1};
  LaneCuts cuts(speeds);
  const LaneCut& first = cuts.find({8, 32, 1}, 64, 300);
  EXPECT_EQ(&cuts.find({8, 32, 1}, 64, 300), &first);
  for (uint32_t i = 0; i < 20; ++i)
    EXPECT_EQ(cuts.find({8, 64 + i, 1}, 64, 300).lane_ends.size(), 2U);
  EXPECT_EQ(first.blocks_per_task, 40U);
  EXPECT_EQ(cuts.find({8, 32, 1}, 64, 0).blocks_per_task, 64U);
}

}  // namespace
}  // namespace sluice::runtime
