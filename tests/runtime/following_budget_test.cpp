// Following launches is given up where it has cost more than they allow.
#include "runtime/following_budget.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

constexpr FollowingBudget::Limits limits{
    .to_start = 100, .for_a_launch = 2, .threads_for_a_step = 10};

TEST(FollowingBudget, AllowsWhatIsThereToStart) {
  FollowingBudget budget;
  budget.spend(100);
  EXPECT_TRUE(budget.allows(limits));
  budget.spend(1);
  EXPECT_FALSE(budget.allows(limits));
}

TEST(FollowingBudget, EarnsByLaunchesAndTheirThreads) {
  FollowingBudget budget;
  budget.earn(limits, 1000);
  budget.spend(202);
  EXPECT_TRUE(budget.allows(limits));
  budget.spend(1);
  EXPECT_FALSE(budget.allows(limits));
  budget.earn(limits, 0);
  EXPECT_TRUE(budget.allows(limits));
}

}  // namespace
}  // namespace sluice::runtime
