// A task that is done sets its flag for its window alone, and completes its launch where others
// wait for all of it.
#include "megakernel/host/task_signals.hpp"

#include <gtest/gtest.h>

#include "megakernel/window_builder.hpp"

namespace sluice::megakernel {
namespace {

void do_nothing(uint32_t, void*) {}

// Two launches of two tasks each; the second waits for all of the first.
void add_launches(testing::WindowBuilder& builder) {
  builder.add_launch({2, 1, 1}, 1, do_nothing);
  builder.add_launch({2, 1, 1}, 1, do_nothing);
  builder.depend(0, testing::all_table({2, 1, 1}, {2, 1, 1}));
}

TEST(TaskSignals, AreSetTaskByTask) {
  testing::WindowBuilder builder;
  add_launches(builder);
  TaskSignals signals;
  signals.open(builder.plan);
  EXPECT_FALSE(signals.done(1, 2));  // nobody slept
  for (uint32_t flag = 0; flag < 4; ++flag)
    EXPECT_EQ(signals.is_done(flag), flag == 2);
}

TEST(TaskSignals, CompleteALaunchThatIsWaitedFor) {
  testing::WindowBuilder builder;
  add_launches(builder);
  TaskSignals signals;
  signals.open(builder.plan);
  signals.done(0, 1);
  EXPECT_FALSE(signals.is_launch_done(0));
  signals.done(0, 0);
  EXPECT_TRUE(signals.is_launch_done(0));
}

TEST(TaskSignals, AreAllUnsetInTheNextWindow) {
  testing::WindowBuilder builder;
  add_launches(builder);
  TaskSignals signals;
  for (int window = 0; window < 3; ++window) {
    signals.open(builder.plan);
    EXPECT_FALSE(signals.is_launch_done(0));
    for (uint32_t flag = 0; flag < 4; ++flag) {
      EXPECT_FALSE(signals.is_done(flag));
      signals.done(flag / 2, flag);
    }
  }
}

}  // namespace
}  // namespace sluice::megakernel
