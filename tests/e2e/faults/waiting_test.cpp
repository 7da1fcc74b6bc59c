// A process that has used the device and waits takes next to no processor time.
#include <sstream>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

// A thread that spun would take nearly all of the second, and ten times this on a busy machine.
constexpr long most_microseconds = 50'000;

void expect_idle(const Outcome& outcome) {
  std::istringstream lines(outcome.output);
  int phases = 0;
  std::string phase;
  for (long microseconds = 0; lines >> phase >> microseconds; ++phases)
    EXPECT_LT(microseconds, most_microseconds) << phase;
  EXPECT_EQ(phases, 3) << outcome.output << outcome.errors;
}

TEST(Waiting, TakesNoProcessorTimeOnTheDeviceAlone) {
  expect_idle(sluice_run({"--off"}, {build_path("tests/e2e/waiting")}));
}

TEST(Waiting, TakesNoProcessorTimeUnderSluice) {
  expect_idle(sluice_run({}, {build_path("tests/e2e/waiting")}));
}

}  // namespace
}  // namespace sluice::e2e
