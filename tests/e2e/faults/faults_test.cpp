// What ends a thread before its time is told of under Sluice as it is without: traps, and accesses
// to memory that is not there.
#include <cstdlib>

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

class WildPointers : public ::testing::TestWithParam<const char*> {
  // A kernel that ends midway leaves undone what its footprint says that it writes, and the check
  // of footprints tells of that.
  void SetUp() override { unsetenv("SLUICE_CHECK_FOOTPRINTS"); }
};

constexpr const char* told_of_address = "cudaErrorIllegalAddress\ncudaErrorIllegalAddress\n";

TEST_P(WildPointers, OfAPlainLaunchAreTold) {
  const Outcome outcome = sluice_run({"--off"}, {build_path("tests/e2e/wild_pointer"), GetParam()});
  EXPECT_EQ(outcome.output, told_of_address) << outcome.errors;
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.errors.find("where no memory is"), std::string::npos) << outcome.errors;
}

TEST_P(WildPointers, UnderSluiceAreTold) {
  const Outcome outcome = sluice_run({}, {build_path("tests/e2e/wild_pointer"), GetParam()});
  EXPECT_EQ(outcome.output, told_of_address) << outcome.errors;
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.errors.find("where no memory is"), std::string::npos) << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(Faults, WildPointers,
                         ::testing::Values("null", "beyond", "freed", "cooperative"),
                         [](const auto& test) { return std::string(test.param); });

// The device's handler leaves the program's own faults to the program's own handler.
TEST(Faults, OfTheProgramGoToItsOwnHandler) {
  const Outcome outcome = sluice_run({"--off"}, {build_path("tests/e2e/wild_pointer"), "own"});
  EXPECT_EQ(outcome.output, std::string(told_of_address) + "handled\n") << outcome.errors;
  EXPECT_EQ(outcome.status, 0);
}

}  // namespace
}  // namespace sluice::e2e
