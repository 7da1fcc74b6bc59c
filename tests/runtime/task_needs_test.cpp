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
  EXPECT_DOUBLE_EQ(rows.lag, 0.5);
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
  EXPECT_THAT(needs.prefix, ElementsAre(0, 5, 0));
}

}  // namespace
}  // namespace sluice::runtime
