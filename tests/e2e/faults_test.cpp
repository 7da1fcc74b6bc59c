// A thread that traps in a launch that Sluice runs is told of as it is without Sluice.
#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

constexpr const char* told = "cudaErrorLaunchFailure\ncudaErrorLaunchFailure\n";

TEST(Faults, OfAPlainLaunchIsTold) {
  const Outcome outcome = sluice_run({"--off"}, {build_path("tests/e2e/trap")});
  EXPECT_EQ(outcome.output, told) << outcome.errors;
}

TEST(Faults, OfATaskIsTold) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome outcome = sluice_run({"--journal", journal}, {build_path("tests/e2e/trap")});
  EXPECT_EQ(outcome.output, told) << outcome.errors;
  EXPECT_NE(outcome.errors.find("a thread executed a trap"), std::string::npos) << outcome.errors;
  EXPECT_EQ(inspect_figures(journal)["passed_through"]["count"], 0);
}

}  // namespace
}  // namespace sluice::e2e
