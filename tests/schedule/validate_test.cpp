// validate() finds each broken promise of a window, and names it.
#include "schedule/validate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::WindowBuilder;
using ::testing::HasSubstr;

class Validate : public ::testing::Test {
 protected:
  Validate() {
    const Dim3 grid{4, 3, 1};
    for (int launch = 0; launch < 2; ++launch) {
      builder.add_launch(grid, 5, [](uint32_t, void*) {});
    }
    builder.depend(0, megakernel::testing::cross_table(grid));
    builder.add_tasks_in_launch_order();
  }

  void expect_error(const std::string& text) {
    const Status status = validate(builder.plan);
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().line(), HasSubstr(text));
  }

  WindowBuilder builder;
};

TEST_F(Validate, AcceptsAWindowInLaunchOrder) {
  EXPECT_TRUE(validate(builder.plan));
}

TEST_F(Validate, AcceptsAnotherTopologicalOrder) {
  // Task 0 of the slave (blocks 0 to 4) needs master blocks up to 8: tasks 0 and 1.
  std::swap(builder.plan.tasks[2], builder.plan.tasks[3]);
  EXPECT_TRUE(validate(builder.plan));
}

TEST_F(Validate, FindsASlaveBeforeItsMaster) {
  std::swap(builder.plan.tasks[1], builder.plan.tasks[3]);
  expect_error("task 1: it waits for a task that does not stand before it");
}

TEST_F(Validate, FindsAMissingTask) {
  builder.plan.tasks.pop_back();
  expect_error("5 tasks where its launches make 6");
}

TEST_F(Validate, FindsATaskTwice) {
  builder.plan.tasks[2] = builder.plan.tasks[0];
  expect_error("task 2: its blocks have run");
}

TEST_F(Validate, FindsAWrongCut) {
  builder.plan.tasks[0].block_count = 4;
  expect_error("task 0: its number of blocks");
}

TEST_F(Validate, FindsSharedFlags) {
  builder.plan.launches[1].first_flag = 2;
  expect_error("launch 1: it shares a flag");
}

TEST_F(Validate, FindsADependenceOnALaterLaunch) {
  builder.plan.dependences[0].master = 1;
  expect_error("launch 1: dependence 0 names no earlier launch");
}

TEST_F(Validate, FindsATableOfAnotherGrid) {
  const dro::EdgeTable other = megakernel::testing::cross_table({4, 4, 1});
  builder.plan.dependences[0].edges = &other;
  expect_error("launch 1: dependence 0 is of other grids");
}

}  // namespace
}  // namespace sluice::schedule
