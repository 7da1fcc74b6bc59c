// CUDA's order of any two operations in any two kinds of streams, on the CPU device without and
// with Sluice; with the governor off, so that all that can be tasks are.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

class OrderRules : public testing::TestWithParam<const char*> {
 protected:
  static void expect_right(std::vector<std::string> command) {
    command.insert(command.end(), {"--device", "cpu", "--",
                                   build_path("tests/e2e/order/order_rules"), GetParam()});
    const Outcome outcome = run(command, {{"SLUICE_GOVERNOR", "off"}});
    EXPECT_EQ(outcome.output, "648 cases, 0 wrong\n") << outcome.errors;
    EXPECT_EQ(outcome.status, 0);
  }
};

TEST_P(OrderRules, HoldOnTheDeviceAlone) {
  expect_right({build_path("bin/sluice"), "run", "--off"});
}

TEST_P(OrderRules, HoldUnderSluice) {
  expect_right({build_path("bin/sluice"), "run"});
}

INSTANTIATE_TEST_SUITE_P(OfStreams, OrderRules, testing::Values("apart", "joined"));

TEST(WordsOfMemory, CloseTheWindowsOfTheirStreamAlone) {
  const Outcome outcome =
      run({build_path("bin/sluice"), "run", "--device", "cpu", "--",
           build_path("tests/e2e/order/words_beside")},
          {{"SLUICE_GOVERNOR", "off"}, {"SLUICE_ANALYSIS", "wait"}, {"SLUICE_LOG", "info"}});
  EXPECT_EQ(outcome.output, "20 19\n") << outcome.errors;
  // The first launch goes to the idle stream, the others wait for it together.
  EXPECT_NE(outcome.errors.find("20 launches ran as tasks in 2 windows"), std::string::npos)
      << outcome.errors;
}

}  // namespace
}  // namespace sluice::e2e
