// Programs whose answers the host knows, on the CPU device without and with Sluice.
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

// answers_rightly() runs a program that counts its own wrong answers, plain and under Sluice.
void answers_rightly(const char* program) {
  const std::vector<std::string> command = {
      build_path(std::string("tests/e2e/device_answers/") + program)};
  const Outcome plain = sluice_run({"--off"}, command);
  EXPECT_EQ(plain.output, "0 wrong\n") << plain.errors;
  const Outcome tasks = sluice_run({}, command);
  EXPECT_EQ(tasks.output, "0 wrong\n") << tasks.errors;
}

TEST(LaunchErrors, ComeFromTheCallItselfAlsoWhereLaunchesAreHeld) {
  answers_rightly("launch_errors");
}

TEST(RefusedSizes, OverflowsGiveAnErrorAndLeaveOutputsAlone) {
  answers_rightly("refused_sizes");
}

// Shape is the stride of the inner loop, how many strides there are to do, and the rounds.
struct Shape {
  int stride, rows, rounds;
};

class NestedStrides : public ::testing::TestWithParam<std::tuple<int, Shape>> {};

TEST_P(NestedStrides, ReachEveryElement) {
  const auto& [way, shape] = GetParam();
  std::vector<std::string> command = {build_path("tests/e2e/device_answers/nested_strides")};
  for (const int argument : {way, shape.stride, shape.rows, 128, shape.rounds})
    command.push_back(std::to_string(argument));
  const int count = shape.stride * shape.rows;
  const std::string told = "cudaSuccess, 0 of " + std::to_string(count) + " wrong\n";
  const Outcome plain = sluice_run({"--off"}, command);
  EXPECT_EQ(plain.output, told) << plain.errors;
  const Outcome tasks = sluice_run({}, command);
  EXPECT_EQ(tasks.output, told) << tasks.errors;
}

// One stride for each thread: all columns at once. Several: threads go round the outer loop too.
INSTANTIATE_TEST_SUITE_P(OneRound, NestedStrides,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3, 5),
                                            ::testing::Values(Shape{128, 3, 1})));
INSTANTIATE_TEST_SUITE_P(SeveralRounds, NestedStrides,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Values(Shape{768, 3, 6})));
// Of the threads only some have an outer round; each of them does its column again.
INSTANTIATE_TEST_SUITE_P(SomeThreads, NestedStrides,
                         ::testing::Combine(::testing::Values(4),
                                            ::testing::Values(Shape{128, 3, 128},
                                                              Shape{128, 3, 300})));

}  // namespace
}  // namespace sluice::e2e
