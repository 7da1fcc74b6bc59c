// Programs whose blocks and threads wait for each other, on the CPU device without and with Sluice:
// as many blocks as the device says it holds at once, and those that wait first.
#include <string>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

std::vector<std::string> program(const std::string& name) {
  return {build_path("tests/e2e/waits/waits_" + name)};
}

class Waits : public ::testing::TestWithParam<const char*> {};

TEST_P(Waits, EndWithRightAnswersOnTheDeviceAlone) {
  const Outcome plain = sluice_run({"--off"}, program(GetParam()));
  EXPECT_EQ(plain.output, "0 wrong\n") << plain.errors;
}

TEST_P(Waits, EndWithRightAnswersUnderSluice) {
  const Outcome tasks = sluice_run({}, program(GetParam()));
  EXPECT_EQ(tasks.output, "0 wrong\n") << tasks.errors;
}

INSTANTIATE_TEST_SUITE_P(Programs, Waits,
                         ::testing::Values("colouring", "full_streams", "grid_barrier",
                                           "independent_set", "look_back", "threads", "tree"));

TEST(WaitWarning, NamesKernelAndLineAndTheKernelGoesOn) {
  const Outcome outcome = run({build_path("bin/sluice"), "run", "--off", "--device", "cpu", "--",
                               build_path("tests/e2e/waits/waits_for_the_host")},
                              {{"SLUICE_WAIT_WARNING", "0.1"}, {"SLUICE_LOG", "warning"}});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("wait_for_host"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find(", PTX line "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("0 wrong\n"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace sluice::e2e
