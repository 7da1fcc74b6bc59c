// Following new launches is given up where it has cost more than the program allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/policy.hpp"

namespace sluice::runtime {
namespace {

int64_t now = 0;
int64_t read_clock() {
  return now;
}

class Following : public ::testing::Test {
 protected:
  Following() { now = 0; }
  bool may_follow() { return policy().may_follow(kernel_); }
  const Policy& policy() {
    static const Policy::Config config{.kernel_to_start = 100, .kernel_part = 0.1, .quick = 20};
    if (!policy_) policy_.emplace(config, read_clock);
    return *policy_;
  }

  std::optional<Policy> policy_;
  Policy::Mark kernel_;
};

TEST_F(Following, AllowsWhatIsThereToStart) {
  kernel_.spend(100);
  EXPECT_TRUE(may_follow());
  kernel_.spend(1);
  EXPECT_FALSE(may_follow());
}

TEST_F(Following, AllowsAPartOfTheTimeSoFar) {
  may_follow();
  now = 1000;
  kernel_.spend(200);
  EXPECT_TRUE(may_follow());
  kernel_.spend(1);
  EXPECT_FALSE(may_follow());
}

TEST_F(Following, IsTriedAgainWhereHalfOfWhatIsAllowedIsLeft) {
  kernel_.spend(150);
  EXPECT_FALSE(may_follow());
  now = 1990;
  EXPECT_FALSE(may_follow());
  now = 2000;
  EXPECT_TRUE(may_follow());
}

TEST_F(Following, SaysWhatItHasCost) {
  for (int i = 0; i < 410; ++i)
    kernel_.followed(1);
  kernel_.spend(31'000'000);
  EXPECT_FALSE(may_follow());
  EXPECT_EQ(kernel_.why_not,
            "following 410 of its launches cost 31.0 ms, and tasks saved 0.0 ms so far");
}

TEST_F(Following, OfALaunchIsQuickWhereTheLastNewOneWas) {
  EXPECT_FALSE(policy().is_quick(kernel_.newest));
  kernel_.spend(20);
  EXPECT_TRUE(policy().is_quick(kernel_.newest));
  kernel_.spend(21);
  EXPECT_FALSE(policy().is_quick(kernel_.newest));
}

TEST_F(Following, CostsStepsWhereNothingIsCompared) {
  const Policy all(std::nullopt, read_clock);
  kernel_.spend(nanoseconds_of_steps(2'500'000));
  EXPECT_TRUE(all.may_follow(kernel_));
  kernel_.spend(nanoseconds_of_steps(1));
  EXPECT_FALSE(all.may_follow(kernel_));
  kernel_.followed(0);
  EXPECT_FALSE(all.may_follow(kernel_));
  for (int i = 0; i < 200; ++i)
    kernel_.followed(0);
  EXPECT_TRUE(all.may_follow(kernel_));
}

}  // namespace
}  // namespace sluice::runtime
