// What a task needs of an earlier launch, read from every form of edge table.
#include "runtime/task_needs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"

namespace sluice::runtime {
namespace {

using megakernel::testing::all_table;
using megakernel::testing::cross_table;
using megakernel::testing::ranges_table;
using ::testing::ElementsAre;

TEST(TaskNeeds, OfAStencilAreTheNextRow) {
  const TaskNeeds rows = find_task_needs(cross_table({8, 4, 1}), 8, 8);
  EXPECT_THAT(rows.prefix, ElementsAre(2, 3, 4, 4));
  EXPECT_THAT(rows.suffix, ElementsAre(0, 0, 1, 2));
  EXPECT_DOUBLE_EQ(rows.lag, 0.5);
  EXPECT_DOUBLE_EQ(rows.backward_lag, 0.5);
  const TaskNeeds halves = find_task_needs(cross_table({8, 4, 1}), 4, 4);
  EXPECT_THAT(halves.prefix, ElementsAre(3, 4, 5, 6, 7, 8, 8, 8));
}

TEST(TaskNeeds, CountTheTasksOfEitherSide) {
  const TaskNeeds needs = find_task_needs(cross_table({8, 4, 1}), 4, 16);
  EXPECT_THAT(needs.prefix, ElementsAre(6, 8));
}

TEST(TaskNeeds, OfAReductionAreTheWholeLaunch) {
  const TaskNeeds needs = find_task_needs(all_table({10, 1, 1}, {2, 1, 1}), 3, 1);
  EXPECT_THAT(needs.prefix, ElementsAre(4, 4));
  EXPECT_DOUBLE_EQ(needs.lag, 1);
}

TEST(TaskNeeds, OfABlockWithoutMastersAreNothing) {
  const TaskNeeds needs =
      find_task_needs(ranges_table({6, 1, 1}, {3, 1, 1}, {{}, {{1, 1}, {4, 4}}, {}}), 1, 1);
  EXPECT_THAT(needs.prefix, ElementsAre(0, 5, 5));
  EXPECT_THAT(needs.suffix, ElementsAre(1, 1, 6));
}

// Each row needs the two rows before it, so swept backward it needs those that come after its own.
TEST(SweptNeeds, OfABackwardSweepCountFromTheEnd) {
  std::vector<std::vector<dro::BlockRange>> rows;
  for (uint32_t row = 0; row < 6; ++row)
    rows.push_back({{row < 2 ? 0 : row - 2, row}});
  const TaskNeeds needs = find_task_needs(ranges_table({6, 1, 1}, {6, 1, 1}, rows), 1, 1);
  const auto positions = [&](bool is_backward, auto member) {
    const SweptNeeds swept(needs, is_backward);
    std::vector<uint32_t> found;
    for (uint32_t position = 0; position < swept.tasks(); ++position)
      found.push_back((swept.*member)(position));
    return found;
  };
  EXPECT_THAT(positions(false, &SweptNeeds::before), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(positions(false, &SweptNeeds::from), ElementsAre(0, 0, 0, 1, 2, 3));
  EXPECT_THAT(positions(true, &SweptNeeds::before), ElementsAre(3, 4, 5, 6, 6, 6));
  EXPECT_THAT(positions(true, &SweptNeeds::from), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_DOUBLE_EQ(SweptNeeds(needs, false).lag(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(SweptNeeds(needs, true).lag(), 0.5);
}

TEST(TaskNeedsCache, KeepsWhatAWindowHoldsThroughATrim) {
  TaskNeedsCache cache;
  std::vector<dro::EdgeTable> tables(5000, cross_table({8, 4, 1}));  // more than it remembers
  const TaskNeeds& first = cache.find(tables[0], 8, 8);
  const std::shared_ptr<const void> held = cache.holder();
  for (const dro::EdgeTable& table : tables)
    cache.find(table, 8, 8);
  cache.trim();
  EXPECT_NE(cache.holder(), held);
  EXPECT_EQ(first.edges.masters(1).front(), (megakernel::TaskRange{0, 2}));
}

}  // namespace
}  // namespace sluice::runtime
