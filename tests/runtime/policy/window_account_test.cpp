// Which windows of a backend pay, by what they spare and cost.
#include "runtime/policy/window_account.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

constexpr megakernel::WindowBackend::Costs costs{.plain_launch = 2'000, .window = 20'000};

bool pays(uint32_t launches, const schedule::Planner::Share& each,
          const megakernel::WindowBackend::Costs& device = costs) {
  WindowAccount account;
  for (; launches > 0; --launches)
    account.add(each);
  return account.pays(device);
}

TEST(WindowAccount, ALaunchAloneNeverPays) {
  EXPECT_FALSE(pays(1, {.tasks = 16}, {.plain_launch = 2'000, .window = 0}));
  EXPECT_TRUE(pays(2, {.tasks = 16}, {.plain_launch = 2'000, .window = 0}));
}

TEST(WindowAccount, GapsPayForWhatAWindowTakesOfItsStream) {
  EXPECT_FALSE(pays(10, {.tasks = 16}));
  EXPECT_TRUE(pays(11, {.tasks = 16}));
}

// Planning is for nothing only while the device works.
TEST(WindowAccount, PlanningIsPaidByWorkAndGaps) {
  EXPECT_FALSE(pays(64, {.tasks = 100'000, .nanoseconds = 1'000}));
  EXPECT_TRUE(pays(64, {.tasks = 100'000, .nanoseconds = 5'000'000}));
}

TEST(WindowAccount, WhatWasNeverMeasuredIsTakenToBeWorthItsPlanning) {
  EXPECT_TRUE(pays(64, {.tasks = 100'000}));
  EXPECT_FALSE(pays(4, {.tasks = 100'000}));
}

}  // namespace
}  // namespace sluice::runtime
