// From where to where in an earlier launch a task's masters lie, read from every form of edge
// table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"
#include "schedule/task_edges.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::all_table;
using megakernel::testing::cross_table;
using megakernel::testing::ranges_table;
using ::testing::ElementsAre;

TEST(TaskReach, OfAStencilAreTheNextRow) {
  const TaskEdges rows(cross_table({8, 4, 1}), 8, 8);
  EXPECT_THAT(rows.reach().prefix, ElementsAre(2, 3, 4, 4));
  EXPECT_THAT(rows.reach().suffix, ElementsAre(0, 0, 1, 2));
  EXPECT_DOUBLE_EQ(rows.reach().lag, 0.5);
  EXPECT_DOUBLE_EQ(rows.reach().backward_lag, 0.5);
  const TaskEdges halves(cross_table({8, 4, 1}), 4, 4);
  EXPECT_THAT(halves.reach().prefix, ElementsAre(3, 4, 5, 6, 7, 8, 8, 8));
}

TEST(TaskReach, CountTheTasksOfEitherSide) {
  const TaskEdges edges(cross_table({8, 4, 1}), 4, 16);
  EXPECT_THAT(edges.reach().prefix, ElementsAre(6, 8));
}

TEST(TaskReach, OfAReductionAreTheWholeLaunch) {
  const TaskEdges edges(all_table({10, 1, 1}, {2, 1, 1}), 3, 1);
  EXPECT_THAT(edges.reach().prefix, ElementsAre(4, 4));
  EXPECT_DOUBLE_EQ(edges.reach().lag, 1);
}

TEST(TaskReach, OfABlockWithoutMastersAreNothing) {
  const TaskEdges edges(ranges_table({6, 1, 1}, {3, 1, 1}, {{}, {{1, 1}, {4, 4}}, {}}), 1, 1);
  EXPECT_THAT(edges.reach().prefix, ElementsAre(0, 5, 5));
  EXPECT_THAT(edges.reach().suffix, ElementsAre(1, 1, 6));
}

// Each row needs the two rows before it, so swept backward it needs those that come after its own.
TEST(SweptEdges, OfABackwardSweepCountFromTheEnd) {
  std::vector<std::vector<dro::BlockRange>> rows;
  for (uint32_t row = 0; row < 6; ++row)
    rows.push_back({{row < 2 ? 0 : row - 2, row}});
  const TaskEdges edges(ranges_table({6, 1, 1}, {6, 1, 1}, rows), 1, 1);
  const auto positions = [&](bool is_backward, auto member) {
    const SweptEdges swept(edges, is_backward);
    std::vector<uint32_t> found;
    for (uint32_t position = 0; position < swept.tasks(); ++position)
      found.push_back((swept.*member)(position));
    return found;
  };
  EXPECT_THAT(positions(false, &SweptEdges::before), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(positions(false, &SweptEdges::from), ElementsAre(0, 0, 0, 1, 2, 3));
  EXPECT_THAT(positions(true, &SweptEdges::before), ElementsAre(3, 4, 5, 6, 6, 6));
  EXPECT_THAT(positions(true, &SweptEdges::from), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_DOUBLE_EQ(SweptEdges(edges, false).lag(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(SweptEdges(edges, true).lag(), 0.5);
}

TEST(TaskEdgesCache, KeepsWhatAWindowHoldsThroughATrim) {
  TaskEdgesCache cache;
  // More than it remembers: each slave task has a range of masters.
  std::vector<dro::EdgeTable> tables(50, cross_table({256, 256, 1}));
  const TaskEdges& first = cache.find(tables[0], 1, 1);
  const std::shared_ptr<const void> held = cache.holder();
  for (const dro::EdgeTable& table : tables)
    cache.find(table, 1, 1);
  cache.trim();
  EXPECT_NE(cache.holder(), held);
  EXPECT_EQ(first.masters(1).front(), (TaskRange{0, 2}));
}

}  // namespace
}  // namespace sluice::schedule
