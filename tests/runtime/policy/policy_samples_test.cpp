// The policy compares samples of tasks with plain launches and steps aside where tasks are slower.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/policy_phase.hpp"

namespace sluice::runtime {
namespace {

using testing::now;
using testing::Phase;
using testing::read_clock;
using testing::Way;

TEST(PolicySamples, StepsAsideWherePlainLaunchesAreFaster) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  EXPECT_EQ(phase.launches(60, kernel),
            std::string(20, 't') + std::string(6, 'p') + std::string(34, 'a'));
  ASSERT_EQ(phase.verdicts.size(), 1U);
  EXPECT_TRUE(phase.verdicts[0].aside);
  EXPECT_DOUBLE_EQ(phase.verdicts[0].plain_speed, 2.0);
  EXPECT_THAT(phase.policy.why_aside(), ::testing::HasSubstr("2.00 x as fast as tasks"));
}

TEST(Policy, ARowGoesAsTasksWhereEachOfItsLaunchesWould) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  std::string ways = phase.launches(2, kernel);
  while (ways.size() < 60) {
    const Policy::Row row{kernel.size(phase.blocks, {}).phase, 2, 2 * phase.blocks};
    if (!row.may_go(phase.policy)) {
      ways += phase.launches(2, kernel);
      continue;
    }
    Policy::Sample sample;
    row.count(phase.policy, sample, 0);
    now += 2 * phase.task_time;
    phase.hear(phase.policy.ended(Way::tasks, sample));
    ways += "tt";
  }
  EXPECT_EQ(ways, std::string(20, 't') + std::string(6, 'p') + std::string(34, 'a'));
}

// Three samples that have run side by side end at once.
TEST(PolicySamples, TakesTogetherWhatHasRunSideBySide) {
  Phase phase;
  Policy::Mark kernel;
  ASSERT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  std::vector<Policy::Sample> samples;
  const int lines[3] = {};
  for (int i = 0; i < 6; ++i) {
    ASSERT_FALSE(phase.policy.is_aside(kernel, phase.blocks));
    ASSERT_EQ(phase.policy.way(kernel, phase.blocks), Way::plain);
    if (auto sample = phase.policy.count_plain(kernel, phase.blocks, nullptr, 0)) {
      sample->line = &lines[samples.size()];
      samples.push_back(*sample);
    }
  }
  ASSERT_EQ(samples.size(), 3U);
  now += 6 * phase.task_time;
  for (const Policy::Sample& sample : samples)
    phase.hear(phase.policy.ended(Way::plain, sample));
  EXPECT_TRUE(phase.verdicts.empty());
  EXPECT_EQ(phase.launch(kernel), Way::tasks);
}

// As on a busy machine: the first of three is heard of when all have ended.
TEST(PolicySamples, TakesTogetherWhatItHearsOfAtOnce) {
  Phase phase;
  Policy::Mark kernel;
  ASSERT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  for (const int64_t time : {550, 47, 1, 1, 1, 0}) {
    phase.plain_time = time;
    phase.launch(kernel);
  }
  EXPECT_EQ(phase.launch(kernel), Way::tasks);
  EXPECT_NEAR(phase.policy.plain_speed().value(), 1, 1e-9);
}

TEST(PolicySamples, MeasuresAsManyLaunchesWhateverABlockWasMeasuredToCost) {
  for (int nanoseconds = 1; nanoseconds < 300; ++nanoseconds) {
    schedule::BlockCost cost;
    cost.note(std::chrono::nanoseconds(nanoseconds), 1);
    Phase phase;
    Policy::Mark kernel;
    phase.cost = &cost;
    phase.plain_time = 50;
    ASSERT_EQ(phase.launches(40, kernel),
              std::string(20, 't') + std::string(6, 'p') + std::string(14, 'a'))
        << nanoseconds;
  }
}

TEST(PolicySamples, StaysWhereTasksAreNotSlowerAndComparesEverMoreRarely) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 97;  // faster by less than it takes to be worth it
  const std::string ways = phase.launches(400, kernel);
  EXPECT_EQ(ways.find('a'), std::string::npos);
  const std::string compared(6, 'p');
  const size_t first = ways.find(compared);
  const size_t second = ways.find(compared, first + 6);
  const size_t third = ways.find(compared, second + 6);
  EXPECT_EQ(first, 20U);
  // Ten times as long as six plain launches took, and twice that; and six tasks to compare with.
  EXPECT_EQ(second - first, 6U + 59U + 6U);
  EXPECT_EQ(third - second, 6U + 117U + 6U);
  EXPECT_TRUE(phase.verdicts.empty());
}

TEST(PolicySamples, ComesBackWhenTasksAreNoSlowerAnyMore) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  phase.launches(40, kernel);
  phase.plain_time = 100;
  const std::string ways = phase.launches(100, kernel);
  EXPECT_EQ(ways.back(), 't');
  ASSERT_EQ(phase.verdicts.size(), 2U);
  EXPECT_FALSE(phase.verdicts[1].aside);
}

TEST(PolicySamples, ComparesAgainWhereTasksHaveBecomeMuchSlower) {
  Phase phase;
  Policy::Mark kernel;
  EXPECT_EQ(phase.launches(27, kernel), std::string(20, 't') + std::string(6, 'p') + "t");
  phase.task_time = 149;
  EXPECT_EQ(phase.launches(30, kernel), std::string(30, 't'));
  phase.task_time = 151;
  const std::string ways = phase.launches(40, kernel);
  EXPECT_EQ(ways.substr(0, 2), "tt");
  EXPECT_NE(ways.find("pppp"), std::string::npos) << ways;
  EXPECT_EQ(ways.back(), 'a') << ways;
  ASSERT_EQ(phase.verdicts.size(), 1U);
  EXPECT_TRUE(phase.verdicts[0].aside);
}

TEST(PolicySamples, GoesByTheMiddleOfItsSamples) {
  Phase phase;
  Policy::Mark kernel;
  phase.launches(20, kernel);
  for (const int64_t time : {1, 1, 100, 100, 100, 100}) {
    phase.plain_time = time;
    phase.launch(kernel);
  }
  EXPECT_EQ(phase.launch(kernel), Way::tasks);
}

TEST(PolicySamples, TakesNoSampleOfAnEarlierRound) {
  Phase phase;
  Policy::Mark kernel;
  EXPECT_EQ(phase.policy.way(kernel, phase.blocks), Way::tasks);
  Policy::Sample before;
  phase.policy.count(before, kernel, 10, nullptr, 0);
  phase.launches(26, kernel);                         // compared
  EXPECT_EQ(phase.launches(60, kernel).back(), 't');  // and begun to compare again
  for (int i = 0; i < 40; ++i) {
    now += 1000;
    phase.policy.ended(Way::tasks, before);
    EXPECT_EQ(phase.policy.is_aside(kernel, phase.blocks), false);
    EXPECT_EQ(phase.policy.way(kernel, phase.blocks), Way::tasks);
  }
}

TEST(PolicySamples, WithoutAConfigLaunchesAlwaysGoAsTasks) {
  Policy policy(std::nullopt, read_clock);
  Policy::Mark kernel;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_FALSE(policy.is_aside(kernel, 1));
    ASSERT_EQ(policy.way(kernel, 1), Way::tasks);
  }
}

}  // namespace
}  // namespace sluice::runtime
