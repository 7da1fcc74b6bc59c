// What the policy takes for one phase of a program, and when it compares in one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/policy_phase.hpp"

namespace sluice::runtime {
namespace {

using testing::now;
using testing::Phase;
using testing::quick;
using testing::Way;

// Launches of `kernel` until they are left aside.
void leave_aside(Phase& phase, Policy::Mark& kernel) {
  phase.plain_time = 50;
  EXPECT_EQ(phase.launches(30, kernel).back(), 'a');
}

TEST(PolicyPhases, AKernelThatComesLateBeginsAnotherPhaseAndTheFirstIsKnownWhenItComesAgain) {
  Phase phase;
  Policy::Mark kernel;
  Policy::Mark other;
  leave_aside(phase, kernel);
  for (int i = 0; i < 40; ++i)
    phase.policy.is_aside(kernel, phase.blocks);  // so many that the phase is formed
  EXPECT_EQ(phase.launches(20, other), std::string(20, 't'));
  EXPECT_EQ(phase.launch(kernel), Way::aside);
}

TEST(PolicyPhases, AnotherBlockOrAMuchLargerGridIsAnotherPhase) {
  Phase phase;
  Policy::Mark kernel;
  phase.blocks = 8;
  leave_aside(phase, kernel);
  for (int i = 0; i < 40; ++i)
    phase.policy.is_aside(kernel, phase.blocks);  // so many that the phase is formed
  phase.blocks = 31;
  EXPECT_EQ(phase.launches(1, kernel), "a");
  phase.blocks = 8 * 31;
  EXPECT_EQ(phase.launches(10, kernel), std::string(10, 't'));
  phase.blocks = 8;
  EXPECT_EQ(phase.launch(kernel), Way::aside);
  EXPECT_FALSE(phase.policy.is_aside(kernel, 8, {64, 1, 1}));
}

TEST(PolicyPhases, KernelsThatComeEarlyAreOfOnePhase) {
  Phase phase;
  Policy::Mark kernels[3];
  phase.plain_time = 50;
  std::string ways;
  for (int i = 0; i < 40; ++i)
    ways += phase.launches(1, kernels[i % 3]);
  EXPECT_EQ(ways, std::string(20, 't') + std::string(6, 'p') + std::string(14, 'a'));
}

// As where what launches depend on is still being found: no sample comes, and time goes by.
TEST(PolicyPhases, APhaseLeftAsideWhoseLaunchesPassThroughIsNotTriedForLong) {
  Phase phase;
  Policy::Mark kernel;
  leave_aside(phase, kernel);
  now += 100'000;
  std::string ways;
  for (int i = 0; i < 40; ++i, now += 100) {
    const bool is_aside = phase.policy.is_aside(kernel, phase.blocks);
    ways += "tpa"[static_cast<int>(is_aside ? Way::aside : phase.policy.way(kernel, phase.blocks))];
    meet(phase.policy, kernel, phase.blocks, {});
  }
  EXPECT_EQ(ways, std::string(25, 't') + std::string(15, 'a'));
}

// What a graph is asked by, which goes to the device whole then.
TEST(PolicyPhases, APhaseIsLeftAsideUntilItIsComparedAgain) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  phase.launches(10, kernel);
  const Policy::Phase& of_kernel = *kernel.size(phase.blocks, {}).phase;
  EXPECT_FALSE(of_kernel.is_left_aside(phase.policy));
  EXPECT_EQ(phase.launches(20, kernel).back(), 'a');
  EXPECT_TRUE(of_kernel.is_left_aside(phase.policy));
  now += of_kernel.again;
  EXPECT_FALSE(of_kernel.is_left_aside(phase.policy));
}

// Else what Sluice does for the next launches would take the device's processors from them.
TEST(PolicyPhases, TheProgramWaitsForItsPlainSamplesUntilTheyHaveEndedOrForLong) {
  for (const bool is_overdue : {false, true}) {
    Phase phase;
    Policy::Mark kernel;
    std::vector<Policy::Sample> given;
    EXPECT_EQ(phase.launches(20, kernel), std::string(20, 't'));
    while (given.size() < quick.samples) {
      EXPECT_FALSE(awaits_samples(phase.policy));
      phase.policy.is_aside(kernel, phase.blocks);  // another launch
      ASSERT_EQ(phase.policy.way(kernel, phase.blocks), Way::plain);
      const auto sample = phase.policy.count_plain(kernel, 10, nullptr, 0);
      if (sample) given.push_back(*sample);
    }
    EXPECT_TRUE(awaits_samples(phase.policy));
    if (is_overdue) {
      await_no_longer(phase.policy);
      EXPECT_FALSE(awaits_samples(phase.policy));
      phase.policy.is_aside(kernel, phase.blocks);
      EXPECT_EQ(phase.policy.way(kernel, phase.blocks), Way::tasks) << "meanwhile";
    }
    for (const Policy::Sample& sample : given) {
      EXPECT_EQ(awaits_samples(phase.policy), !is_overdue);
      now += 50;
      phase.hear(phase.policy.ended(Way::plain, sample));
    }
    EXPECT_FALSE(awaits_samples(phase.policy));
    EXPECT_EQ(phase.launch(kernel), Way::aside);
    EXPECT_EQ(phase.verdicts.size(), 1U);
  }
}

TEST(PolicyPhases, APhaseIsTriedForLongWhereFewOfItsLaunchesPassThrough) {
  Phase phase;
  Policy::Mark kernel;
  leave_aside(phase, kernel);
  now += 100'000;
  EXPECT_EQ(phase.launches(1, kernel), "t");
  meet(phase.policy, kernel, phase.blocks, {});
  meet(phase.policy, kernel, phase.blocks, {});
  now += 100'000;  // the program does something else
  EXPECT_EQ(phase.launches(1, kernel), "t");
}

TEST(PolicyPhases, ComparesNothingInAShortPhase) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 1;
  EXPECT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  EXPECT_EQ(phase.launch(kernel), Way::plain);
}

TEST(PolicyPhases, ComparesAfterAPartOfTheTimeWhereThatIsLonger) {
  Policy::Config config = quick;
  config.first_part = 0.5;
  now = 0;
  Phase phase(config);
  Policy::Mark kernel;
  now += 10'000;  // the program has done other things; x = (10,000 + x) / 2
  EXPECT_EQ(phase.launches(100, kernel), std::string(100, 't'));
  EXPECT_EQ(phase.launch(kernel), Way::plain);
}

}  // namespace
}  // namespace sluice::runtime
