// Following new launches is given up where it has cost more than the program allows.
#include <cstdint>
#include <optional>
#include <vector>

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
  bool may_follow() { return policy().may_follow(account_); }
  Policy& policy() {
    static const Policy::Config config{.kernel_to_start = 100, .kernel_part = 0.1, .quick = 20};
    if (!policy_) policy_.emplace(config, read_clock);
    return *policy_;
  }

  std::optional<Policy> policy_;
  Policy::Account account_;
};

TEST_F(Following, AllowsWhatIsThereToStart) {
  spend(policy(), account_, 100);
  EXPECT_TRUE(may_follow());
  spend(policy(), account_, 1);
  EXPECT_FALSE(may_follow());
}

TEST_F(Following, AllowsAPartOfTheTimeSoFar) {
  may_follow();
  now = 1000;
  spend(policy(), account_, 200);
  EXPECT_TRUE(may_follow());
  spend(policy(), account_, 1);
  EXPECT_FALSE(may_follow());
}

TEST_F(Following, IsTriedAgainWhereHalfOfWhatIsAllowedIsLeft) {
  spend(policy(), account_, 150);
  EXPECT_FALSE(may_follow());
  now = 1990;
  EXPECT_FALSE(may_follow());
  now = 2000;
  EXPECT_TRUE(may_follow());
}

TEST_F(Following, SaysWhatItHasCost) {
  for (int i = 0; i < 410; ++i)
    account_.followed(1);
  spend(policy(), account_, 31'000'000);
  EXPECT_FALSE(may_follow());
  EXPECT_EQ(account_.why_not,
            "following 410 of its launches of about this size cost 31.0 ms, and tasks saved 0.0 ms "
            "so far");
}

TEST_F(Following, OfAnotherSizeGoesOnWhereOneDidNotPay) {
  Policy::Mark kernel;
  const Dim3 block{32, 8, 1};
  spend(policy(), kernel.account({64, 64, 1}, block), 1000);
  EXPECT_FALSE(policy().may_follow(kernel.account({64, 64, 1}, block)));
  EXPECT_FALSE(policy().may_follow(kernel.account({64, 65, 1}, block))) << "of the same magnitude";
  EXPECT_TRUE(policy().may_follow(kernel.account({64, 64, 1}, {16, 16, 1})));
  EXPECT_TRUE(policy().may_follow(kernel.account({1, 1, 1}, block)));
  EXPECT_FALSE(policy().is_quick(kernel.account({1, 1, 1}, block).newest)) << "as the last size";
}

TEST_F(Following, OfAllKernelsTogetherIsBoundButForWhatTakesLittle) {
  Policy::Account other;
  Policy::Account cheap;
  spend(policy(), account_, 60);
  EXPECT_TRUE(policy().may_follow(other));
  spend(policy(), other, 50);
  spend(policy(), cheap, 12);
  EXPECT_FALSE(policy().may_follow(other)) << "half of what is allowed, as the other one";
  EXPECT_FALSE(policy().may_follow(account_));
  EXPECT_TRUE(policy().may_follow(cheap)) << "an eighth";
  charge(policy(), cheap, 1);
  EXPECT_FALSE(policy().may_follow(cheap));
}

TEST_F(Following, OfALaunchIsQuickWhereTheLastNewOneWas) {
  EXPECT_FALSE(policy().is_quick(account_.newest));
  spend(policy(), account_, 20);
  EXPECT_TRUE(policy().is_quick(account_.newest));
  spend(policy(), account_, 21);
  EXPECT_FALSE(policy().is_quick(account_.newest));
}

TEST_F(Following, CostsStepsWhereNothingIsCompared) {
  Policy all(std::nullopt, read_clock);
  spend(all, account_, nanoseconds_of_steps(2'500'000));
  EXPECT_TRUE(all.may_follow(account_));
  spend(all, account_, nanoseconds_of_steps(1));
  EXPECT_FALSE(all.may_follow(account_));
  account_.followed(0);
  EXPECT_FALSE(all.may_follow(account_));
  for (int i = 0; i < 200; ++i)
    account_.followed(0);
  EXPECT_TRUE(all.may_follow(account_));
}

TEST_F(Following, IsInVainWhereMoreWasSpentThanSaved) {
  static const Policy::Config patient{.to_start = 1'000, .part = 0.5};
  policy_.emplace(patient, read_clock);
  spend(policy(), account_, 1'000);
  EXPECT_FALSE(is_in_vain(policy(), account_)) << "a program may lose that";
  Policy::Account cheap;
  spend(policy(), cheap, 50);
  spend(policy(), account_, 50);
  EXPECT_TRUE(is_in_vain(policy(), account_));
  EXPECT_FALSE(is_in_vain(policy(), cheap));
  cheap.reading = 100;
  EXPECT_TRUE(is_in_vain(policy(), cheap)) << "to read its footprint was dear";
  now += 200;
  EXPECT_FALSE(is_in_vain(policy(), account_)) << "it has run for longer";
  EXPECT_FALSE(is_in_vain(Policy(std::nullopt, read_clock), account_)) << "nothing is compared";
}

TEST_F(Following, WhatWasInVainInEarlierStartsIsTriedWhenTheProgramHasRunForLonger) {
  account_.in_vain = 100;
  may_follow();
  now = 10 * 100 - 1;  // of which a tenth
  EXPECT_FALSE(policy().may_follow(account_));
  EXPECT_THAT(account_.why_not, ::testing::HasSubstr("in earlier starts"));
  now += 1;
  EXPECT_TRUE(policy().may_follow(account_));
}

// What earlier starts have counted says what comes, and not what the last launch took.
TEST_F(Following, NewLaunchesAreQuickByWhatIsKept) {
  const auto is_next_quick = [this] { return is_new_quick(policy(), account_); };
  static const uint64_t dear = 1'000'000;
  static const Policy::Config patient{.to_start = 1'000'000, .quick = 1'000};
  policy_.emplace(patient, read_clock);
  EXPECT_FALSE(is_next_quick()) << "nobody knows";
  account_.steps.read({100, dear, 100});
  EXPECT_TRUE(is_next_quick());
  EXPECT_FALSE(account_.steps.add(90)) << "less than was kept";
  EXPECT_FALSE(is_next_quick());
  EXPECT_FALSE(account_.steps.add(1)) << "look-ups are no new launch";
  EXPECT_FALSE(is_next_quick());
  EXPECT_TRUE(account_.steps.add(dear + 1));
  spend(policy(), account_, 2'000);
  EXPECT_TRUE(is_next_quick());
  EXPECT_FALSE(account_.steps.add(100));
  EXPECT_FALSE(is_next_quick()) << "the last one is all that is known";
  EXPECT_TRUE(account_.steps.add(200));
  EXPECT_THAT(account_.steps.all(), ::testing::ElementsAre(100, dear + 1, 100, 200));
}

TEST(StepsOfNew, AreThoseOfTheFirstLaunchesAlone) {
  StepsOfNew steps;
  steps.read(std::vector<uint64_t>(1000, 60));
  EXPECT_EQ(steps.all().size(), StepsOfNew::most);
  for (size_t i = 0; i < StepsOfNew::most; ++i)
    EXPECT_FALSE(steps.add(60));
  EXPECT_EQ(steps.next(), std::nullopt);
  steps.read({UINT64_MAX});
  EXPECT_EQ(steps.all().front(), StepsOfNew::dearest);
  EXPECT_FALSE(steps.add(1'000'000));
}

}  // namespace
}  // namespace sluice::runtime
