// What the policy lets a program lose before it knows, and how long it waits for the background.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/policy_phase.hpp"

namespace sluice::runtime {
namespace {

using testing::now;
using testing::Phase;
using testing::read_clock;
using testing::Way;

TEST(PolicyLosses, IsPatientForAsMuchAsItMayLose) {
  now = 0;
  Policy policy(Policy::Config{.to_start = 1000, .part = 0.01}, read_clock);
  EXPECT_EQ(policy.patience(), 1000);
  policy.wait(600);
  EXPECT_EQ(policy.patience(), 400);
  policy.wait(600);
  EXPECT_EQ(policy.patience(), 0);
  now = 30'000;
  EXPECT_EQ(policy.patience(), 100);
}

TEST(PolicyLosses, IsMorePatientByWhatTasksSave) {
  now = 0;
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 150;
  phase.launches(26, kernel);
  const int64_t before = phase.policy.patience();
  phase.launches(10, kernel);
  EXPECT_EQ(phase.policy.patience() - before, 10 * 50 + 20);  // and 2 % of 1000 ns
}

// With what users get: launches of 0.1 ms that take longer as tasks.
TEST(PolicyLosses, LosesNoMoreThanItMayWhereTasksNeverPay) {
  for (const int64_t task_time : {110'000, 150'000, 200'000, 400'000}) {
    now = 0;
    Phase phase(Policy::Config{});
    Policy::Mark kernel;
    phase.task_time = task_time;
    phase.plain_time = 100'000;
    int64_t lost = 0;
    int64_t first_aside = 0;
    while (now < 20'000'000'000) {
      const Way way = phase.launch(kernel);
      if (way == Way::tasks) lost += task_time - phase.plain_time;
      if (way == Way::aside && first_aside == 0) first_aside = now;
      ASSERT_LE(lost, 10'000'000 + now / 50) << task_time << " after " << now;
    }
    EXPECT_LE(first_aside, 20'000'000) << "5 ms of tasks, and what both were measured by";
  }
}

TEST(PolicyLosses, KnowsAfterAPartOfTheTimeSoFarWhereItIsLate) {
  now = 0;
  Phase phase(Policy::Config{});
  Policy::Mark kernel;
  phase.task_time = 200'000;
  phase.plain_time = 100'000;
  now = 1'000'000'000;
  int64_t as_tasks = 0;
  for (Way way = Way::tasks; way != Way::aside; as_tasks += way == Way::tasks ? 200'000 : 0)
    way = phase.launch(kernel);
  EXPECT_GE(as_tasks, 30'000'000);
  EXPECT_LE(as_tasks, 32'000'000);
}

}  // namespace
}  // namespace sluice::runtime
