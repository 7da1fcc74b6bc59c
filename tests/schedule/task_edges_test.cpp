// The tasks that a task waits for are those of its blocks' masters, joined.
#include "schedule/task_edges.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::all_table;
using megakernel::testing::cross_table;
using megakernel::testing::ranges_table;

std::vector<TaskRange> masters(const TaskEdges& edges, uint32_t task) {
  const auto found = edges.masters(task);
  return {found.begin(), found.end()};
}

TEST(TaskEdges, OfAStencilsRowsAreOneRangeEach) {
  const TaskEdges edges(cross_table({8, 8, 1}), 16, 16);
  ASSERT_EQ(edges.slave_tasks(), 4U);
  EXPECT_EQ(masters(edges, 0), (std::vector<TaskRange>{{0, 1}}));
  EXPECT_EQ(masters(edges, 1), (std::vector<TaskRange>{{0, 2}}));
  EXPECT_EQ(masters(edges, 3), (std::vector<TaskRange>{{2, 3}}));
  EXPECT_FALSE(edges.waits_for_launch());
}

TEST(TaskEdges, OfAReductionAreTheWholeLaunch) {
  const TaskEdges edges(all_table({10, 1, 1}, {2, 1, 1}), 3, 1);
  EXPECT_EQ(masters(edges, 1), (std::vector<TaskRange>{{0, 3}}));
  EXPECT_TRUE(edges.waits_for_launch());
}

TEST(TaskEdges, OfBlocksWithoutMastersAreNone) {
  const TaskEdges edges(ranges_table({6, 1, 1}, {3, 1, 1}, {{}, {{0, 0}, {4, 4}}, {}}), 1, 1);
  EXPECT_TRUE(masters(edges, 0).empty());
  EXPECT_EQ(masters(edges, 1), (std::vector<TaskRange>{{0, 0}, {4, 4}}));
  EXPECT_TRUE(masters(edges, 2).empty());
}

TEST(TaskEdges, AreThoseOfTheBlocksInAnyTable) {
  std::mt19937 random(1);
  const auto up_to = [&](uint32_t most) { return static_cast<uint32_t>(random() % (most + 1)); };
  for (int round = 0; round < 300; ++round) {
    const uint32_t masters_count = 1 + up_to(40);
    const uint32_t slaves = 1 + up_to(40);
    std::vector<std::vector<dro::BlockRange>> of_block(slaves);
    for (auto& ranges : of_block) {
      for (uint32_t next = up_to(20); next < masters_count; next += 2 + up_to(20)) {
        const uint32_t last = std::min(next + up_to(6), masters_count - 1);
        ranges.push_back({next, last});
        next = last;
      }
    }
    const auto table = ranges_table({masters_count, 1, 1}, {slaves, 1, 1}, of_block);
    const uint32_t master_blocks = 1 + up_to(7);
    const uint32_t slave_blocks = 1 + up_to(7);
    const TaskEdges edges(table, master_blocks, slave_blocks);
    ASSERT_EQ(edges.slave_tasks(), (slaves + slave_blocks - 1) / slave_blocks);
    for (uint32_t task = 0; task < edges.slave_tasks(); ++task) {
      std::set<uint32_t> wanted;
      for (uint32_t block = task * slave_blocks;
           block < std::min((task + 1) * slave_blocks, slaves); ++block) {
        for (const dro::BlockRange& range : of_block[block])
          for (uint32_t master = range.first; master <= range.last; ++master)
            wanted.insert(master / master_blocks);
      }
      std::vector<uint32_t> found;
      uint64_t behind = 0;
      for (const TaskRange& range : edges.masters(task)) {
        EXPECT_TRUE(found.empty() || range.first > behind) << "ranges that touch are joined";
        for (uint32_t master = range.first; master <= range.last; ++master)
          found.push_back(master);
        behind = uint64_t{range.last} + 1;
      }
      EXPECT_EQ(found, std::vector<uint32_t>(wanted.begin(), wanted.end()));
    }
  }
}

}  // namespace
}  // namespace sluice::schedule
