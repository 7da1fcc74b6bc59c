// Whether a program waits for each launch before it makes the next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/policy_phase.hpp"

namespace sluice::runtime {
namespace {

using testing::read_clock;

TEST(PolicyHabit, TakesAProgramThatWaitsForEachLaunchToWaitForTheNext) {
  Policy policy(Policy::Config{.alone = 3}, read_clock);
  const auto launch = [&policy](bool is_waited_for) {
    const bool alone = policy.habit().is_alone();
    policy.habit().launched();
    if (is_waited_for) policy.habit().flushed();
    return alone;
  };
  EXPECT_TRUE(launch(true)) << "nothing says otherwise yet";
  EXPECT_TRUE(launch(false));
  EXPECT_FALSE(launch(true)) << "the one before was not waited for";
  EXPECT_FALSE(launch(true));
  EXPECT_FALSE(launch(true));
  EXPECT_FALSE(launch(true));
  EXPECT_TRUE(launch(true));
  EXPECT_TRUE(launch(false));
  EXPECT_FALSE(launch(false));
  EXPECT_FALSE(launch(true));
}

TEST(PolicyHabit, TakesNoProgramToWaitForEachLaunchWhereNothingIsCompared) {
  Policy policy(std::nullopt, read_clock);
  EXPECT_FALSE(policy.habit().is_alone());
}

}  // namespace
}  // namespace sluice::runtime
